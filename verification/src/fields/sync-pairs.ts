import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { type Client, headersFor } from '../client.ts'
import type { Random } from '../random.ts'
import type { Expected, Row } from './sync-expected.ts'

/**
 * The two programs of `examples/` that keep a database in step with Quartermaster, and for each: what people write on both sides, and
 * what both sides have. It shares no code with the programs, only the tables of their databases.
 */
export interface Pair {
  readonly name: string
  /** The program with its arguments, to which the database and a pause in seconds are added. */
  readonly command: readonly [program: string, ...args: string[]]
  readonly file: string
  /** One write of a person on this side. */
  writeHere(random: Random, expected: Expected): void
  /** One write of another user of Quartermaster. */
  writeThere(random: Random, expected: Expected): Promise<void>
  /** What a program without a table of its own can lose: every id, and the position in the feed. */
  loseIds(): void
  rowsHere(): readonly Row[]
  rowsThere(): Promise<readonly Row[]>
}

/** Sends a request as an administrator of the account, and returns the status and the body. */
export type Send = (
  method: string,
  path: string,
  body?: object,
) => Promise<{ readonly status: number; readonly text: string }>

export function senderOf(client: Client, port: number, account: string, key: string): Send {
  const headers = [...headersFor(account, key), 'Content-Type', 'application/json']
  return (method, path, body) => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    return client.sendUntilAccepted({ port, method, path, headers, ...text })
  }
}

const path = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))

/** Of 10 writes, 3 create, 6 change and 1 deletes. */
function kindOf(random: Random): 'create' | 'change' | 'delete' {
  const kind = random.integer(0, 9)
  if (kind < 3) return 'create'
  return kind < 9 ? 'change' : 'delete'
}

const partners = '/api/v1/resources/partner'
const products = '/api/v1/inventory/product'

/** Partners by the numbers of an ERP. Those that are created in Quartermaster have none until the program gives them one. */
export function erpPair(file: string, send: Send): Pair {
  const program = path('examples/erp-sync.ts')
  const erp = databaseOf(file)
  const there = new Records(send, partners, ['id', 'name', 'email', 'x_number'])
  let created = 0
  return {
    name: 'erp-sync.ts',
    command: [process.execPath, '--import', path('client/test/client-source.ts'), program],
    file,
    writeHere(random, expected) {
      const kind = kindOf(random)
      const email = `${random.digits(6)}@erp.example`
      if (kind === 'create') {
        const name = `erp ${++created}`
        erp((db) => {
          const next = `update last set number = max(number, (select max(number) from partner)) + 1 returning number`
          const number = Number(db.prepare(next).get()?.['number'])
          db.prepare('insert into partner (number, name, email) values (?, ?, ?)').run(number, name, email)
        })
        expected.created('local', name, email)
        return
      }
      erp((db) => {
        const row = anyRow(db, 'select number as key, name from partner order by number', random)
        if (row === undefined) return
        if (kind === 'change') {
          const change = 'update partner set email = ?, changed = changed + 1 where number = ?'
          db.prepare(change).run(email, row.key)
          expected.changed('local', row.name, email)
        } else {
          expected.deleted('local', row.name)
          db.prepare('delete from partner where number = ?').run(row.key)
          db.prepare('insert or ignore into deleted values (?)').run(row.key)
        }
      })
    },
    async writeThere(random, expected) {
      const kind = kindOf(random)
      const email = `${random.digits(6)}@shop.example`
      if (kind === 'create') {
        const name = `shop ${++created}`
        expected.created('remote', name, email)
        requireStatus(await send('POST', partners, { name, email }), [201])
        return
      }
      const record = await there.any(random)
      if (record === undefined) return
      if (kind === 'delete') {
        expected.deleted('remote', record.name)
        requireStatus(await send('DELETE', `${partners}/${record.id}`), [204, 404])
        return
      }
      const onlyName = random.chance(0.3)
      const change = onlyName ? { name: renamed(record.name, random) } : { email }
      const response = requireStatus(await send('PATCH', `${partners}/${record.id}`, change), [200, 404])
      if (response.status === 200 && !onlyName) expected.changed('remote', record.name, email)
    },
    loseIds: () =>
      erp((db) => {
        db.exec('update partner set id = null')
        db.exec('update last set cursor = null')
      }),
    rowsHere: () =>
      erp((db) => db.prepare('select number, name, email from partner order by number').all()).map((row) => ({
        key: String(row['number']),
        name: String(row['name']),
        value: String(row['email']),
      })),
    rowsThere: async () =>
      (await there.all()).map((record) => ({
        key: String(record['x_number']),
        name: record.name,
        value: String(record['email']),
      })),
  }
}

/** Products by SKU. Quartermaster also has products without one, which the warehouse does not stock. */
export function warehousePair(file: string, send: Send): Pair {
  const warehouse = databaseOf(file)
  const there = new Records(send, products, ['id', 'name', 'qty_available', 'x_sku'])
  let created = 0
  return {
    name: 'warehouse-sync.py',
    command: ['python3', path('examples/warehouse-sync.py')],
    file,
    writeHere(random, expected) {
      const kind = kindOf(random)
      const quantity = quantityOf(random)
      if (kind === 'create') {
        const sku = `wh-${++created}`
        warehouse((db) =>
          db.prepare('insert into product (sku, name, quantity) values (?, ?, ?)').run(sku, sku, quantity),
        )
        expected.created('local', sku, quantity)
        return
      }
      warehouse((db) => {
        const row = anyRow(db, 'select sku as key, name from product order by sku', random)
        if (row === undefined) return
        if (kind === 'change') {
          const change = 'update product set quantity = ?, changed = changed + 1 where sku = ?'
          db.prepare(change).run(quantity, row.key)
          expected.changed('local', row.name, quantity)
        } else {
          expected.deleted('local', row.name)
          db.prepare('delete from product where sku = ?').run(row.key)
          db.prepare('insert or ignore into deleted values (?)').run(row.key)
        }
      })
    },
    async writeThere(random, expected) {
      const kind = kindOf(random)
      const quantity = quantityOf(random)
      if (kind === 'create') {
        if (random.chance(0.1)) {
          requireStatus(await send('POST', products, { name: 'not stocked' }), [201])
          return
        }
        const sku = `SHOP Ä/${++created}`
        expected.created('remote', sku, quantity)
        const body = { name: sku, qty_available: quantity }
        requireStatus(await send('PATCH', `${products}/x_sku/${encodeURIComponent(sku)}`, body), [201])
        return
      }
      const record = await there.any(random)
      if (record === undefined || record['x_sku'] === null) return
      if (kind === 'delete') {
        expected.deleted('remote', record.name)
        requireStatus(await send('DELETE', `${products}/${record.id}`), [204, 404])
        return
      }
      const onlyName = random.chance(0.3)
      const change = onlyName ? { name: renamed(record.name, random) } : { qty_available: quantity }
      const response = requireStatus(await send('PATCH', `${products}/${record.id}`, change), [200, 404])
      if (response.status === 200 && !onlyName) expected.changed('remote', record.name, quantity)
    },
    loseIds: () =>
      warehouse((db) => {
        db.exec('update product set id = null')
        db.exec('update state set cursor = null')
      }),
    rowsHere: () =>
      warehouse((db) => db.prepare('select sku, name, quantity from product order by sku').all()).map(
        (row) => ({
          key: String(row['sku']),
          name: String(row['name']),
          value: String(row['quantity']),
        }),
      ),
    rowsThere: async () =>
      (await there.all()).flatMap((record) =>
        record['x_sku'] === null
          ? []
          : { key: String(record['x_sku']), name: record.name, value: String(record['qty_available']) },
      ),
  }
}

/** The records of a resource, as lists return them. */
class Records {
  readonly #send: Send
  readonly #path: string
  readonly #fields: string
  #some: readonly ApiRecord[] = []
  #uses = 0

  constructor(send: Send, resource: string, fields: readonly string[]) {
    this.#send = send
    this.#path = resource
    this.#fields = fields.join(',')
  }

  async all(): Promise<readonly ApiRecord[]> {
    const records: ApiRecord[] = []
    for (;;) {
      const after = records.at(-1)?.id ?? 0
      const query = `fields=${this.#fields}&limit=1000&after_id=${after}`
      const { text } = requireStatus(await this.#send('GET', `${this.#path}?${query}`), [200])
      const { data }: { data: readonly ApiRecord[] } = JSON.parse(text)
      if (data.length === 0) return records
      records.push(...data)
    }
  }

  /** One of those that were there a while ago. */
  async any(random: Random): Promise<ApiRecord | undefined> {
    if (this.#uses++ % 20 === 0) this.#some = await this.all()
    return this.#some.length === 0 ? undefined : random.pick(this.#some)
  }
}

interface ApiRecord {
  readonly [field: string]: string | number | null
  readonly id: number
  readonly name: string
}

/** Reads and writes a database in one transaction, beside the program that uses it. */
function databaseOf(file: string): <T>(work: (db: DatabaseSync) => T) => T {
  let db: DatabaseSync | undefined
  return (work) => {
    db ??= new DatabaseSync(file, { timeout: 10_000 })
    db.exec('begin immediate')
    try {
      const result = work(db)
      db.exec('commit')
      return result
    } catch (error) {
      db.exec('rollback')
      throw error
    }
  }
}

function anyRow(
  db: DatabaseSync,
  sql: string,
  random: Random,
): { key: string | number; name: string } | undefined {
  const rows = db.prepare(sql).all()
  if (rows.length === 0) return undefined
  const { key, name } = random.pick(rows)
  return { key: typeof key === 'number' ? key : String(key), name: String(name) }
}

function renamed(name: string, random: Random): string {
  return `${name.split(', ')[0]}, ${random.digits(3)}`
}

/** With the digits of its shortest form. */
function quantityOf(random: Random): string {
  return String(random.integer(-5_000, 50_000) / 4)
}

function requireStatus<R extends { readonly status: number; readonly text: string }>(
  response: R,
  expected: readonly number[],
): R {
  if (expected.includes(response.status)) return response
  throw new Error(`${response.status} instead of ${expected.join(' or ')}: ${response.text.slice(0, 500)}`)
}
