import {
  type Key,
  KeySet,
  type Pages,
  type ResourceName,
  type Source,
  type SourceRow,
  Stop,
} from '@quartermaster/sync'
import { recordIdOf } from './external-id.ts'
import { type Mapping, type OdooRow, utc, valuesOf } from './mapping.ts'
import { type OdooApi, OdooError } from './odoo-api.ts'
import { type TouchSource, touchSourcesOf } from './touch.ts'

/** Rows per read: the cost per row is the same from 100 to 5,000. */
const pageRows = 1_000
const touchRows = 5_000
/** Ids per search: 50,000 take 0.15 s. */
const idsPerSearch = 50_000
/** While somebody renames a company, Odoo may refuse it for a moment: seen on Odoo 19. */
const refusalsMax = 4
/** Records that one read proves to be gone. */
const proofRows = 500

/** What every call has in its context. The companies may grow while the connector runs. */
export interface OdooContext {
  readonly active_test: false
  readonly lang: string
  readonly tz: 'UTC'
  allowed_company_ids: readonly number[]
  /** The connector's user. */
  readonly uid: number
}

/** The records of one model. */
export class OdooSource implements Source {
  readonly resource: ResourceName
  readonly isHot: boolean
  readonly #api: OdooApi
  readonly #mapping: Mapping
  readonly #context: OdooContext
  readonly #touch: readonly TouchSource[]

  constructor(api: OdooApi, mapping: Mapping, context: OdooContext) {
    this.resource = mapping.resource
    this.isHot = mapping.resource !== 'company'
    this.#api = api
    this.#mapping = mapping
    this.#context = context
    this.#touch = touchSourcesOf(mapping)
  }

  since(time: number): Pages {
    return this.#pages([['write_date', '>=', odooTime(time)]])
  }

  async after(key: Key | undefined): Promise<{ rows: readonly SourceRow[]; isLast: boolean }> {
    const rows = await this.#page([], Number(key ?? 0))
    return { rows, isLast: rows.length < pageRows }
  }

  byKeys(keys: readonly Key[]): Pages {
    return this.#pages([['id', 'in', keys]])
  }

  async keys(): Promise<KeySet> {
    const found = new KeySet()
    for (let last = 0; ; ) {
      const domain = [...this.#mapping.domain, ['id', '>', last]]
      const ids: number[] = await this.#call('search', { domain, order: 'id', limit: idsPerSearch })
      for (const id of ids) found.add(id)
      if (ids.length < idsPerSearch) return found
      last = ids.at(-1) ?? last
    }
  }

  /**
   * `search` shows neither what is gone nor what may not be read. `read` does: it leaves out what is gone, and refuses everything if it may
   * not show one record. It must name a stored field: with `id` alone it returns even what does not exist.
   */
  async missing(keys: readonly Key[]): Promise<{ gone: readonly Key[]; hidden: readonly Key[] }> {
    const [gone, hidden]: [Key[], Key[]] = [[], []]
    for (let at = 0; at < keys.length; at += proofRows) {
      const part = keys.slice(at, at + proofRows).map(Number)
      const domain = [...this.#mapping.domain, ['id', 'in', part]]
      const back = new Set<number>(await this.#call('search', { domain }))
      await this.#prove(
        part.filter((id) => !back.has(id)),
        gone,
        hidden,
      )
    }
    return { gone, hidden }
  }

  async touched(time: number, isLate: boolean): Promise<readonly Key[]> {
    const found = new Set<number>()
    for (const { model, products, isLateOnly } of this.#touch) {
      if (isLateOnly && !isLate) continue
      for (let last = 0; ; ) {
        const domain = [
          ['write_date', '>=', odooTime(time)],
          ['id', '>', last],
        ]
        const options = { domain, fields: [products], order: 'id', limit: touchRows, load: null }
        const rows: OdooRow[] = await this.#call('search_read', options, model)
        for (const row of rows)
          for (const id of [row[products]].flat()) if (typeof id === 'number') found.add(id)
        if (rows.length < touchRows) break
        last = rows.at(-1)?.id ?? last
      }
    }
    return [...found]
  }

  async born(keys: readonly Key[]): Promise<readonly { id: number; key: Key }[]> {
    const found: { id: number; xmlid: string | false }[] = await this.#call('get_metadata', { ids: keys })
    return found.flatMap(({ id: key, xmlid }) => {
      const id = recordIdOf(xmlid)
      return id === undefined ? [] : [{ id, key }]
    })
  }

  async *#pages(condition: readonly unknown[]): AsyncGenerator<readonly SourceRow[], void, undefined> {
    for (let last = 0; ; ) {
      const rows = await this.#page(condition, last)
      if (rows.length > 0) yield rows
      if (rows.length < pageRows) return
      last = Number(rows.at(-1)?.key)
    }
  }

  /** By key and not by offset: pages are transactions of their own, between which rows come, go and move. */
  async #page(condition: readonly unknown[], after: number): Promise<readonly SourceRow[]> {
    const domain = [...this.#mapping.domain, ...condition, ['id', '>', after]]
    const options = { domain, fields: this.#mapping.read, order: 'id', limit: pageRows, load: null }
    const rows: OdooRow[] = await this.#call('search_read', options)
    return rows.map((row) => ({
      key: row.id,
      changedAt: secondsOf(row['write_date']),
      bornAt: secondsOf(row['create_date']),
      isByUs: row['create_uid'] === this.#context.uid,
      values: valuesOf(this.#mapping, row),
    }))
  }

  async #prove(ids: readonly number[], gone: Key[], hidden: Key[]): Promise<void> {
    if (ids.length === 0) return
    try {
      const rows: OdooRow[] = await this.#call('read', { ids, fields: ['write_date'] })
      const found = new Set(rows.map(({ id }) => id))
      // With a domain, a record that exists has left it.
      const isKept = (id: number) => found.has(id) && this.#mapping.domain.length === 0
      gone.push(...ids.filter((id) => !isKept(id)))
      hidden.push(...ids.filter(isKept))
    } catch (error) {
      if (!(error instanceof OdooError && error.isAccess)) throw error
      if (ids.length === 1) return void hidden.push(...ids)
      const half = Math.ceil(ids.length / 2)
      await this.#prove(ids.slice(0, half), gone, hidden)
      await this.#prove(ids.slice(half), gone, hidden)
    }
  }

  async #call(
    method: string,
    args: object,
    model = this.#mapping.model,
  ): Promise<ReturnType<typeof JSON.parse>> {
    const { uid: _, ...context } = this.#context
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#api.call(model, method, { ...args, context })
      } catch (error) {
        if (method === 'read' || !(error instanceof OdooError && error.isAccess)) throw error
        if (attempt >= refusalsMax)
          throw new Stop(
            'rights_shrank',
            `Odoo no longer lets the connector's user read ${model}: ${error.message}`,
            'Give the right back; check lists the rights that the mapping needs.',
          )
      }
      await this.#api.pause(attempt * 500)
    }
  }
}

/** `2026-11-18 06:13:51`, in UTC. Odoo 19 cuts the second, so a condition on it is always `>=`. */
function odooTime(seconds: number): string {
  return new Date(Math.max(0, Math.floor(seconds)) * 1000).toISOString().slice(0, 19).replace('T', ' ')
}

function secondsOf(value: unknown): number {
  return typeof value === 'string' ? Date.parse(utc(value)) / 1000 : 0
}
