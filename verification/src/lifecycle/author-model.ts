import type { HttpResponse } from '../client.ts'
import type { Random } from '../random.ts'

interface Authors {
  readonly created: string
  changed: string
}

/** Who created and last changed each record, as its senders know. A record has one writer at a time, so that they know the order. */
export class AuthorModel {
  readonly #records = new Map<number, Authors>()
  readonly #deletions = new Map<number, string>()
  readonly #busy = new Set<number>()

  ids(): number[] {
    return [...this.#records.keys()]
  }

  /** Up to `count` records that no other writer has. */
  take(count: number, random: Random): number[] {
    const taken: number[] = []
    const ids = this.ids()
    for (let tries = 0; tries < count * 4 && taken.length < count && ids.length > 0; tries++) {
      const id = random.pick(ids)
      if (this.#busy.has(id)) continue
      this.#busy.add(id)
      taken.push(id)
    }
    return taken
  }

  /** False if another writer has it, or if it does not exist. */
  reserve(id: number): boolean {
    if (this.#busy.has(id) || !this.#records.has(id)) return false
    this.#busy.add(id)
    return true
  }

  release(ids: readonly number[]): void {
    for (const id of ids) this.#busy.delete(id)
  }

  created(id: number, by: string): void {
    this.#records.set(id, { created: by, changed: by })
  }

  changed(id: number, by: string): void {
    const authors = this.#records.get(id)
    if (authors !== undefined) authors.changed = by
  }

  deleted(id: number, by: string): void {
    this.#records.delete(id)
    this.#deletions.set(id, by)
  }

  forgetDeletions(): void {
    this.#deletions.clear()
  }

  get records(): ReadonlyMap<number, Readonly<Authors>> {
    return this.#records
  }

  get deletions(): ReadonlyMap<number, string> {
    return this.#deletions
  }
}

/** Reads from any of the processes. */
export interface Reader {
  readonly read: (path: string, random: Random) => Promise<HttpResponse>
  readonly keys: readonly string[]
}

const products = '/api/v1/inventory/product'

/**
 * Compares every record, the total of each author's filter, and the deletions after `cursor`. Returns how many were compared; what differs
 * is added to `wrong`.
 */
export async function wrongAuthors(
  reader: Reader,
  model: AuthorModel,
  cursor: string | undefined,
  wrong: string[],
  random: Random,
): Promise<number> {
  const { read } = reader
  let compared = 0
  const seen = new Set<number>()
  for (let after = 0; ; ) {
    const path = `${products}?fields=id,created_by,changed_by&limit=1000&after_id=${after}`
    const page: Page = JSON.parse((await read(path, random)).text)
    for (const { id, created_by: created, changed_by: changed } of page.data) {
      const expected = model.records.get(id)
      seen.add(id)
      compared++
      if (expected?.created !== created || expected.changed !== changed)
        wrong.push(`${id} is ${created}, ${changed} instead of ${expected?.created}, ${expected?.changed}`)
      after = id
    }
    if (page.data.length < 1000) break
  }
  for (const id of model.ids()) if (!seen.has(id)) wrong.push(`${id} is missing`)
  for (const author of [...reader.keys, 'import']) {
    for (const field of ['created', 'changed'] as const) {
      const path = `${products}?limit=1&fields=id&filter=${field}_by=${author}`
      const { meta }: Page = JSON.parse((await read(path, random)).text)
      const expected = [...model.records.values()].filter((record) => record[field] === author).length
      compared++
      if (meta.total !== expected) wrong.push(`${field}_by=${author}: ${meta.total} instead of ${expected}`)
    }
  }
  return compared + (cursor === undefined ? 0 : await wrongDeletions(reader, model, cursor, wrong, random))
}

interface Page {
  readonly data: readonly {
    readonly id: number
    readonly created_by: string | null
    readonly changed_by: string | null
  }[]
  readonly meta: { readonly total: number }
}

async function wrongDeletions(
  { read }: Reader,
  model: AuthorModel,
  start: string,
  wrong: string[],
  random: Random,
): Promise<number> {
  const found = new Map<number, string | null>()
  for (let cursor = start, more = true; more; ) {
    const path = `${products}/changes?since=${cursor}&limit=1000&fields=changed_by`
    const page: ChangesPage = JSON.parse((await read(path, random)).text)
    for (const { change, id, deleted_by: by, record } of page.data) {
      if (change === 'deleted') found.set(id, by ?? null)
      else if (record?.changed_by !== model.records.get(id)?.changed)
        wrong.push(
          `the feed names ${record?.changed_by} for ${id} instead of ${model.records.get(id)?.changed}`,
        )
    }
    cursor = page.cursor
    more = page.meta.more
  }
  for (const [id, by] of found)
    if (model.deletions.get(id) !== by)
      wrong.push(`${id} was deleted by ${by} instead of ${model.deletions.get(id)}`)
  return found.size
}

interface ChangesPage {
  readonly data: readonly {
    readonly change: string
    readonly id: number
    readonly deleted_by?: string | null
    readonly record?: { readonly changed_by: string | null }
  }[]
  readonly meta: { readonly more: boolean }
  readonly cursor: string
}
