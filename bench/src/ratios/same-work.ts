import { isDeepStrictEqual } from 'node:util'
import type pg from 'pg'
import { withClient } from '../../../server/src/postgres/client.ts'
import { Client } from '../../../verification/src/client.ts'
import { Random } from '../../../verification/src/random.ts'
import { columns } from './bare.ts'
import { type Account, type Fixture, fieldNames, smallRecords } from './fixture.ts'

const accountsCompared = 20

interface ListBody {
  readonly data: readonly Record<string, unknown>[]
  readonly meta: { readonly count: number; readonly total: number }
}

/** Before the measurements: compares pages and records of random accounts with rows from PostgreSQL. */
export async function verifySameWork(fixture: Fixture, seed: number): Promise<void> {
  const random = new Random(seed)
  const client = new Client()
  try {
    await withClient(fixture.url, async (database) => {
      for (let i = 0; i < accountsCompared; i++) {
        const account = i === 0 ? fixture.large : random.pick(fixture.small)
        await compareList(fixture, client, database, account, random.integer(1, smallRecords / 10))
        await compareOne(fixture, client, database, account, random.integer(1, smallRecords))
      }
    })
  } finally {
    client.close()
  }
}

async function compareList(
  fixture: Fixture,
  client: Client,
  database: pg.Client,
  account: Account,
  page: number,
): Promise<void> {
  const { rows } = await database.query<Record<string, unknown>>(
    `select ${columns} from product where account_id = $1 order by id limit 10 offset $2`,
    [account.id, (page - 1) * 10],
  )
  const counted = await database.query<{ n: string }>(
    'select count(*) as n from product where account_id = $1',
    [account.id],
  )
  const path = `/api/v1/inventory/product?page=${page}&limit=10`
  const { data, meta }: ListBody = JSON.parse(await get(client, fixture, account, path))
  const expected = { data: rows.map(asJson), meta: { count: 10, total: Number(counted.rows[0]?.n) } }
  if (!isDeepStrictEqual({ data, meta }, expected)) {
    throw new Error(`${account.host}${path} differs from the rows in PostgreSQL`)
  }
}

async function compareOne(
  fixture: Fixture,
  client: Client,
  database: pg.Client,
  account: Account,
  id: number,
): Promise<void> {
  const { rows } = await database.query<Record<string, unknown>>(
    `select ${columns} from product where account_id = $1 and id = $2`,
    [account.id, id],
  )
  const text = await get(client, fixture, account, `/api/v1/inventory/product/${id}`)
  const { data }: { data: unknown } = JSON.parse(text)
  if (rows[0] === undefined || !isDeepStrictEqual(data, asJson(rows[0]))) {
    throw new Error(`${account.host}: product ${id} differs from the row in PostgreSQL`)
  }
}

export async function get(
  client: Client,
  { server }: Fixture,
  account: Account,
  path: string,
): Promise<string> {
  const { status, text } = await client.send({ port: server.port, path, headers: headersOf(account) })
  if (status !== 200) throw new Error(`${account.host}${path}: ${status} ${text.slice(0, 500)}`)
  return text
}

export function headersOf({ host, key }: Account): string[] {
  return ['Host', host, 'Authorization', `Bearer ${key}`]
}

const numeric = new Set(['id', 'list_price', 'qty_available', 'categ_id', 'product_tmpl_id'])

/** Converts a row of the driver to the JSON of the service. */
function asJson(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    fieldNames.map((name) => {
      const value = row[name]
      if (value instanceof Date) return [name, value.toISOString()]
      return [name, value !== null && numeric.has(name) ? Number(value) : value]
    }),
  )
}
