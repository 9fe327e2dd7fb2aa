import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { ResourceName } from './source.ts'
import type { Status } from './status.ts'
import type { Key } from './values.ts'

/** A row that was written lately, by which a restored or another database is recognised. */
export type Remembered = readonly [key: Key, changedAt: number, bornAt: number]

export interface ResourceState {
  /** When the last hot poll, and the last late scan, began: seconds of the source's clock. */
  hot: number
  late: number
  /** When the last sweep of keys began. */
  sweep: number
  /** The rolling sweep continues after this key. */
  rollAfter: Key | null
  rollStarted: number
  newest: Remembered[]
}

/** Where a connector is. Without it, a connector reads everything again and ends with the same copy. */
export interface State {
  version: 1
  /** What identifies the source, as the connector reads it. */
  identity: Record<string, string>
  /** The position in the feed of records created here, which belongs to a filter. */
  births: { readonly filter: string; readonly cursor: string } | null
  resources: Partial<Record<ResourceName, ResourceState>>
  status: Status | null
}

export class StateFile {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** A file that is missing or damaged is an empty state. */
  read(): State {
    try {
      const found: State = JSON.parse(readFileSync(this.path, 'utf8'))
      if (found.version === 1) return found
    } catch {
      // Nothing depends on it.
    }
    return { version: 1, identity: {}, births: null, resources: {}, status: null }
  }

  write(state: State): void {
    const next = `${this.path}.next`
    writeFileSync(next, JSON.stringify(state), { mode: 0o600 })
    renameSync(next, this.path)
  }
}
