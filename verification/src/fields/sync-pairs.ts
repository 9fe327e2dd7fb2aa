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
      const table = { name: 'partner', key: 'number', value: 'email' }
      erp((db) => changeRow(db, table, { kind, value: email }, random, expected))
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
      const target = { send, path: `${partners}/${record?.id}`, member: 'email' }
      if (record !== undefined) await changeRecord(target, record, { kind, value: email }, random, expected)
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
      const table = { name: 'product', key: 'sku', value: 'quantity' }
      warehouse((db) => changeRow(db, table, { kind, value: quantity }, random, expected))
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
      const target = { send, path: `${products}/${record.id}`, member: 'qty_available' }
      await changeRecord(target, record, { kind, value: quantity }, random, expected)
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

interface Edit {
  readonly kind: ReturnType<typeof kindOf>
  readonly value: string
}

/** Changes the value of a row, or deletes it. The names are those of the table and of its columns. */
function changeRow(
  db: DatabaseSync,
  {
    name: table,
    key,
    value: column,
  }: { readonly name: string; readonly key: string; readonly value: string },
  { kind, value }: Edit,
  random: Random,
  expected: Expected,
): void {
  const row = anyRow(db, `select ${key} as key, name from ${table} order by ${key}`, random)
  if (row === undefined) return
  if (kind === 'change') {
    db.prepare(`update ${table} set ${column} = ?, changed = changed + 1 where ${key} = ?`).run(
      value,
      row.key,
    )
    expected.changed('local', row.name, value)
    return
  }
  expected.deleted('local', row.name)
  db.prepare(`delete from ${table} where ${key} = ?`).run(row.key)
  db.prepare('insert or ignore into deleted values (?)').run(row.key)
}

/** Changes the value or the name of a record, or deletes it. The program may have deleted it since it was listed. */
async function changeRecord(
  { send, path: target, member }: { readonly send: Send; readonly path: string; readonly member: string },
  { name }: { readonly name: string },
  { kind, value }: Edit,
  random: Random,
  expected: Expected,
): Promise<void> {
  if (kind === 'delete') {
    expected.deleted('remote', name)
    requireStatus(await send('DELETE', target), [204, 404])
    return
  }
  const onlyName = random.chance(0.3)
  const change = onlyName ? { name: renamed(name, random) } : { [member]: value }
  const response = requireStatus(await send('PATCH', target, change), [200, 404])
  if (response.status === 200 && !onlyName) expected.changed('remote', name, value)
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
