import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { atEnd } from '../../../server/test/at-end.ts'

/**
 * A stand-in for JSON-2 of Odoo 19, for what does not need the real one: mapping, guards, exits. Its descriptions of fields are recorded
 * from a real Odoo, and its rows are made here. It has no transactions, no rights and no computed fields: whether polling loses
 * nothing, only a real Odoo shows (`npm run verify -- odoo`).
 */

export type Row = { id: number } & Record<string, unknown>
type Call = {
  readonly model: string
  readonly method: string
  /** As parsed: any. */
  readonly args: ReturnType<typeof JSON.parse>
}
/** A response in place of the normal one. */
export type Answer = { readonly status: number; readonly body: unknown } | undefined

const fieldsGet: Record<string, Record<string, unknown>> = JSON.parse(
  readFileSync(new URL('fields-get.json', import.meta.url), 'utf8'),
)

export class StandIn {
  readonly tables: Record<string, Row[]> = {
    'product.product': [],
    'res.partner': [],
    'res.company': [],
    'stock.move.line': [],
    'stock.quant': [],
    'product.template.attribute.value': [],
    'res.users': [
      { id: 1, create_date: '2026-01-01 08:00:00' },
      { id: 5, create_date: '2026-01-02 08:00:00' },
    ],
    'res.users.apikeys': [{ id: 1, expiration_date: false }],
  }
  readonly calls: Call[] = []
  version = [19, 0, 0, 'final', 0, '']
  /** Partners that `search` does not show, and for which `read` is refused. */
  readonly hidden = new Set<number>()
  answer: (call: Call) => Answer = () => undefined
  /** Whether the response to a call is lost, after the call has had its effect. */
  isLost: (call: Call) => boolean = () => false
  /** Names that `load` does not accept. */
  readonly refused = new Set<string>()
  readonly #externalIds = new Map<string, number>()
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => void this.#respond(request, response))
    atEnd(() => this.#server.close())
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('The stand-in has no port.')
    return `http://127.0.0.1:${address.port}`
  }

  rows(model: string): Row[] {
    const rows = this.tables[model] ?? []
    this.tables[model] = rows
    return rows
  }

  /** Writes a row as a transaction of now. */
  write(model: string, id: number, values: Record<string, unknown>): void {
    const row = this.rows(model).find((one) => one.id === id)
    if (row === undefined) this.rows(model).push({ id, create_date: now(), write_date: now(), ...values })
    else Object.assign(row, { write_date: now() }, values)
  }

  unlink(model: string, ...ids: readonly number[]): void {
    this.tables[model] = this.rows(model).filter(({ id }) => !ids.includes(id))
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const { status, body } = this.#answerTo(request.url ?? '', text)
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
    response.end(JSON.stringify(body))
  }

  #answerTo(url: string, text: string): { status: number; body: unknown } {
    if (url === '/json/version') return { status: 200, body: { version_info: this.version } }
    const [, , , model = '', method = ''] = url.split('/')
    const call = { model, method, args: JSON.parse(text) }
    this.calls.push(call)
    const special = this.answer(call)
    if (special !== undefined) return special
    try {
      const body = this.#result(call)
      return this.isLost(call) ? { status: 502, body: { name: 'lost', message: '' } } : { status: 200, body }
    } catch (error) {
      return {
        status: 403,
        body: { name: 'odoo.exceptions.AccessError', message: String(error), debug: '/usr/lib/x.py' },
      }
    }
  }

  #result({ model, method, args }: Call): unknown {
    const found = () =>
      this.rows(model)
        .filter(({ id }) => model !== 'res.partner' || !this.hidden.has(id))
        .filter((row) => matches(row, args.domain))
        .toSorted((a, b) => a.id - b.id)
        .slice(0, args.limit ?? Number.POSITIVE_INFINITY)
    switch (method) {
      case 'context_get':
        return { uid: 5 }
      case 'fields_get':
        return fieldsGet[model]
      case 'has_access':
        return true
      case 'search':
        return found().map(({ id }) => id)
      case 'search_count':
        return found().length
      case 'search_read':
        return found().map((row) => pick(row, args.fields))
      case 'read':
        return this.#read(model, args.ids, args.fields)
      case 'write':
        for (const id of args.ids) this.write(model, id, args.vals)
        return true
      case 'load':
        return this.#load(args.fields, args.data)
      case 'get_metadata':
        return args.ids.map((id: number) => ({
          id,
          xmlid: [...this.#externalIds].find(([, one]) => one === id)?.[0] ?? false,
        }))
      default:
        throw new Error(`The stand-in has no ${method}.`)
    }
  }

  #read(model: string, ids: readonly number[], fields: readonly string[]): unknown {
    if (ids.some((id) => this.hidden.has(id))) throw new Error('not allowed')
    return this.rows(model)
      .filter(({ id }) => ids.includes(id))
      .map((row) => pick(row, fields))
  }

  /** As Odoo does: nothing of a batch with a fault is kept, and an external id that exists is not written again. */
  #load(fields: readonly string[], data: readonly (readonly string[])[]): unknown {
    const names = data.map((values) => values[fields.indexOf('name')] ?? '')
    const faulty = names.findIndex((name) => this.refused.has(name))
    if (faulty >= 0)
      return {
        ids: false,
        messages: [{ type: 'error', message: `Odoo does not accept ${names[faulty]}`, record: faulty }],
      }
    const ids = data.map((values) => {
      const [externalId = ''] = values
      const known = this.#externalIds.get(externalId)
      if (known !== undefined) return known
      const id = Math.max(1000, ...this.rows('res.partner').map((row) => row.id)) + 1
      const given = Object.fromEntries(fields.map((field, i) => [field, loaded(field, values[i])]))
      this.write('res.partner', id, { ...partner(id), ...given, id, create_uid: 5, create_date: now() })
      this.#externalIds.set(externalId, id)
      return id
    })
    return { ids, messages: [], nextrow: 0 }
  }
}

function loaded(field: string, text = ''): unknown {
  if (field.endsWith('_rank')) return Number(text)
  if (['active', 'is_company', 'employee'].includes(field)) return text === '1'
  return text === '' ? false : text
}

function pick(row: Row, fields: readonly string[]): Row {
  const picked: Row = { id: row.id }
  for (const field of fields) picked[field] = row[field] ?? false
  return picked
}

function matches(
  row: Row,
  domain: readonly (readonly [string, string, ReturnType<typeof JSON.parse>])[],
): boolean {
  return domain.every(([field, operator, value]) => {
    const found = row[field]
    if (operator === 'in') return value.includes(found)
    if (operator === '>') return Number(found) > Number(value)
    if (operator === '>=') return String(found) >= String(value)
    if (operator === '=') return found === value
    throw new Error(`The stand-in has no ${operator}.`)
  })
}

/** In whole seconds, cut off, as Odoo shows them. */
export function now(): string {
  return new Date().toISOString().slice(0, 19).replace('T', ' ')
}

export const old = '2026-03-01 10:00:00'

export function product(id: number, values: object = {}): Row {
  return {
    id,
    name: `Product ${id}`,
    default_code: `P-${id}`,
    lst_price: 10 + id / 100,
    qty_available: id % 7,
    active: true,
    categ_id: 1,
    product_tmpl_id: id + 5000,
    barcode: false,
    create_date: old,
    write_date: old,
    ...values,
  }
}

export function partner(id: number, values: object = {}): Row {
  return {
    id,
    name: `Partner ${id}`,
    complete_name: `Partner ${id}`,
    is_company: id % 3 === 0,
    email: `p${id}@example.com`,
    phone: false,
    active: true,
    employee: false,
    customer_rank: id % 2,
    supplier_rank: 0,
    create_uid: 1,
    create_date: old,
    write_date: old,
    ...values,
  }
}

export function company(id: number, values: object = {}): Row {
  return {
    id,
    name: `Company ${id}`,
    company_registry: false,
    currency_id: 1,
    create_date: old,
    write_date: old,
    ...values,
  }
}
