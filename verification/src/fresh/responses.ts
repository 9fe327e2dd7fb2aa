import type { Growing } from './oracle.ts'
import { missing } from './read.ts'

/** A response that a reader has, for conditional requests. */
export interface Tag {
  readonly etag: string
  readonly text: string
}

/** Stores the last response for a path, and drops the oldest beyond `max`. */
export function storeTag(tags: Map<string, Tag>, path: string, tag: Tag, max: number): void {
  tags.delete(path)
  tags.set(path, tag)
  for (const oldest of tags.keys()) {
    if (tags.size <= max) return
    tags.delete(oldest)
  }
}

interface Named {
  readonly id?: number
  readonly name?: string
}

/** Passes the oracle the names in a response, which it does not choose itself. */
export function learn(oracle: Growing, text: string): void {
  if (text === missing) return
  const { data }: { data: Named | readonly Named[] } = JSON.parse(text)
  for (const { id, name } of [data].flat()) if (id !== undefined && name !== undefined) oracle.learn(id, name)
}
