import type pg from 'pg'
import { resources } from '../src/catalog/resources.ts'
import type { Connection } from '../src/postgres/connection.ts'
import { type Statement, sql, value } from '../src/sql.ts'
import { lockTally, tickTally } from '../src/writes/tick.ts'
import type { TestAccount } from './database.ts'
import type { TestService } from './service.ts'

/** Writes as the service does, in transactions of any content, and reads the feed. */

export interface Write {
  /** Names by id: created, or changed if the product exists. */
  readonly upsert?: Readonly<Record<number, string>>
  readonly delete?: readonly number[]
}

/** One write: records, deletions and tally with one new version, which it returns. */
export async function write(
  client: Connection,
  { accountId }: TestAccount,
  { upsert = {}, delete: deleted = [] }: Write,
): Promise<number> {
  await client.query('begin')
  const version = await tick(client, accountId)
  await client.query(
    `with gone as (delete from product where account_id = $1 and id = any($3::bigint[]) returning id)
     insert into tombstone (account_id, resource, version, id) select $1, 'product', $2, id from gone`,
    [accountId, version, deleted],
  )
  await client.query(
    `insert into product (account_id, id, version, created_version, name, list_price, qty_available, active, create_date, write_date)
     select $1, u.id, $2, $2, u.name, 0, 0, true, now(), now() from unnest($3::bigint[], $4::text[]) u(id, name)
     on conflict (account_id, id) do update set version = excluded.version, name = excluded.name`,
    [accountId, version, Object.keys(upsert), Object.values(upsert)],
  )
  await client.query(
    `update tally t set total = (select count(*) from product p where p.account_id = $1)
     where account_id = $1 and resource = 'product'`,
    [accountId],
  )
  await client.query('commit')
  return version
}

/** Creates the products 1 to `count` with one write. */
export async function withProducts(
  client: Connection,
  created: TestAccount,
  count: number,
): Promise<TestAccount> {
  const ids = Array.from({ length: count }, (_, i) => i + 1)
  await write(client, created, { upsert: Object.fromEntries(ids.map((id) => [id, `p${id}`])) })
  return created
}

async function tick(client: Connection, accountId: string): Promise<number> {
  const run = async <Row extends pg.QueryResultRow>({ text, values }: Statement) =>
    (await client.query<Row>(text, [...values])).rows
  const tally = await client.layout.form(lockTally)({ run }, { accountId }, resources.product)
  const change = { added: sql`0`, lastId: sql`t.last_id` }
  await run(tickTally(value(accountId), resources.product, change, tally).statement())
  return Number(tally?.version)
}

export interface Change {
  readonly change: 'created' | 'updated' | 'deleted' | 'removed'
  readonly id: number
  readonly version: number
  readonly record?: { readonly id: number; readonly name: string }
}

export interface ChangesPage {
  readonly data: readonly Change[]
  readonly meta: { readonly count: number; readonly more: boolean }
  readonly cursor: string
}

export const changesPath = '/api/v1/inventory/product/changes'

export type ChangesParameters = Readonly<
  Partial<Record<'since' | 'limit' | 'wait' | 'fields' | 'filter', string | number>>
>

export function changesUrl(parameters: ChangesParameters): string {
  const query = Object.entries(parameters).map(([name, text]) => `${name}=${encodeURIComponent(text)}`)
  return `${changesPath}?${query.join('&')}`
}

/** One page; throws if the status is not 200. */
export async function changes(
  service: TestService,
  account: TestAccount,
  parameters: ChangesParameters = {},
): Promise<ChangesPage> {
  const { status, body } = await service.request(account, 'GET', changesUrl(parameters))
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a test fails if it is not true
  return body as ChangesPage
}

/** Kinds, ids and versions of changes, such as `created 7 @12`. */
export function summary({ data }: ChangesPage): string[] {
  return data.map(({ change, id, version }) => `${change} ${id} @${version}`)
}

/** Pages until the client is up to date. */
export async function allChanges(
  service: TestService,
  account: TestAccount,
  parameters: ChangesParameters = {},
): Promise<ChangesPage[]> {
  const pages: ChangesPage[] = []
  for (let since = parameters.since; ; ) {
    const page = await changes(service, account, { ...parameters, ...(since === undefined ? {} : { since }) })
    pages.push(page)
    if (!page.meta.more) return pages
    since = page.cursor
  }
}
