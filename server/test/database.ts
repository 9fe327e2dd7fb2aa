import { inject } from 'vitest'
import { createAccount } from '../src/accounts/account-changes.ts'
import { generateKey, hashOfKey, type Scope, scopes } from '../src/accounts/key-format.ts'
import { cloneDatabase } from '../src/cli/database/temporary-postgres.ts'
import { operator } from '../src/cli/operator.ts'
import type { IdSource } from '../src/id-source.ts'
import { Connection } from '../src/postgres/connection.ts'
import { loadLayout } from '../src/postgres/load-layout.ts'
import { atEnd } from './at-end.ts'
import { citusNodes, distributedDatabase } from './distributed-database.ts'
import { templateName } from './global-setup.ts'

let created = 0

/** A new database, migrated and empty, for one test file. */
export function freshDatabase(): Promise<string> {
  const name = `test_${process.pid}_${Date.now()}_${++created}`
  if (citusNodes.length > 0) return distributedDatabase(name)
  return cloneDatabase(inject('postgresUrl'), name, templateName)
}

/** A connection that is closed at the end of the file. */
export async function connected(url: string): Promise<Connection> {
  const client = new Connection({ connectionString: url, application_name: '' })
  await client.connect()
  atEnd(() => client.end())
  if (citusNodes.length > 0) client.layout = await loadLayout(['citus'])
  return client
}

export interface TestAccount {
  readonly accountId: string
  readonly name: string
  readonly key: string
}

/** Creates an account with a key. */
export async function account(
  client: Connection,
  name: string,
  granted: readonly Scope[] = scopes,
  ids?: IdSource,
): Promise<TestAccount> {
  const { accountId } = await createAccount(client, operator(), name, ids)
  const key = generateKey()
  await client.query(
    `insert into api_key (account_id, key_id, hash, name, scopes) values ($1, $2, decode($3, 'hex'), 'test', $4)`,
    [accountId, key.slice(3, 11), hashOfKey(key), granted],
  )
  return { accountId, name, key }
}

/** Inserts the products 1 to `count`, each named `name` and its id, and sets the tally. */
export async function insertProducts(
  client: Connection,
  { accountId }: TestAccount,
  count: number,
  name = 'Product ',
): Promise<void> {
  await client.query(
    `insert into product select $1, g, 1, $3 || g, null, 0, 0, true, null, null, null, now(), now()
     from generate_series(1, $2::int) g`,
    [accountId, count, name],
  )
  await client.query(
    `update tally set version = 1, total = $2, last_id = $2 where account_id = $1 and resource = 'product'`,
    [accountId, count],
  )
}
