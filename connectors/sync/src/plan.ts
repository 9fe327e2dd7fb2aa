import { Copy } from './copy.ts'
import { pagesOf } from './poller.ts'
import type { Records } from './records.ts'
import type { Source } from './source.ts'
import { deletesMax } from './stop.ts'
import type { Field, Key } from './values.ts'

export interface Plan {
  readonly resource: string
  readonly source: number
  readonly here: number
  readonly inserts: number
  readonly updates: number
  readonly equal: number
  readonly deletes: number
  readonly hidden: number
  /** Whether a run would ask before it deletes. */
  readonly asks: boolean
  /** Some keys of what would be written. */
  readonly examples: {
    readonly inserts: readonly Key[]
    readonly updates: readonly Key[]
    readonly deletes: readonly Key[]
  }
}

const examplesMax = 5

/** What a run would write, without writing anything. `records` is undefined before the first run: then nothing here has a key. */
export async function planOf(
  source: Source,
  records: Records | undefined,
  keyField: string,
  fields: readonly Field[],
): Promise<Plan> {
  const copy = records === undefined ? undefined : new Copy(records, keyField, fields)
  const here = (await copy?.load()) ?? 0
  const [inserts, updates, seen]: [Key[], Key[], Set<Key>] = [[], [], new Set()]
  for await (const rows of pagesOf(source)) {
    for (const row of rows) {
      seen.add(row.key)
      if (copy === undefined || !copy.has(row.key)) inserts.push(row.key)
      else if (!copy.isEqual(row)) updates.push(row.key)
    }
  }
  const absent = [...(copy?.keys() ?? [])].filter((key) => !seen.has(key))
  const { gone, hidden } = absent.length === 0 ? { gone: [], hidden: [] } : await source.missing(absent)
  return {
    resource: source.resource,
    source: seen.size,
    here,
    inserts: inserts.length,
    updates: updates.length,
    equal: seen.size - inserts.length - updates.length,
    deletes: gone.length,
    hidden: hidden.length,
    asks: gone.length > deletesMax(here),
    examples: {
      inserts: inserts.slice(0, examplesMax),
      updates: updates.slice(0, examplesMax),
      deletes: gone.slice(0, examplesMax),
    },
  }
}
