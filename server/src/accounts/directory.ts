import pg from 'pg'
import { type ResourceName, resources } from '../catalog/resources.ts'
import { keyIsValid } from '../key-state.ts'
import { inTransaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { sql, value } from '../sql.ts'
import { type Actor, auditStatement } from './audit.ts'

export interface Account extends AccountScope {
  readonly name: string
  readonly status: 'active' | 'suspended'
  readonly createdAt: Date
  /** Null: what the deployment gives every account. */
  readonly requestsPerMinute: number | null
  readonly keyRequestsPerMinute: number | null
}

/** What is not there stays as it is. */
export interface RateParameters {
  readonly requestsPerMinute?: number | null
  readonly keyRequestsPerMinute?: number | null
}

export interface AccountTally {
  readonly resource: ResourceName
  readonly total: number
  readonly version: number
  readonly lastId: number
}

export interface AccountDetails extends Account {
  readonly keys: { readonly valid: number; readonly all: number }
  readonly tallies: readonly AccountTally[]
}

/** The same rule as the table's check: a name is a label of a host. */
const namePattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const columns = `account_id as "accountId", name, status, created_at as "createdAt",
  requests_per_minute as "requestsPerMinute", key_requests_per_minute as "keyRequestsPerMinute"`

export async function createAccount(client: pg.ClientBase, actor: Actor, name: string): Promise<Account> {
  if (!namePattern.test(name)) {
    throw new Error(
      `${JSON.stringify(name)} cannot be the name of an account: it is the first label of a host, 1 to 63 lowercase ` +
        'letters, digits and hyphens, with a letter or digit at both ends.',
    )
  }
  try {
    return await inTransaction(client, async (transaction) => {
      const account = await one(client, `insert into account (name) values ($1) returning ${columns}`, [name])
      if (account === undefined) throw new Error(`The account ${name} was not kept.`)
      for (const resource of Object.keys(resources)) {
        await client.query('insert into tally (account_id, resource) values ($1, $2)', [
          account.accountId,
          resource,
        ])
      }
      await transaction.run(
        auditStatement(account, actor, { action: 'account.create', subject: name, details: null }),
      )
      return account
    })
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '23505') {
      throw new Error(`There is already an account named ${name}.`, { cause: error })
    }
    throw error
  }
}

export async function findAccount(client: pg.ClientBase, name: string): Promise<Account | undefined> {
  return await one(client, `select ${columns} from account where name = $1`, [name])
}

export async function accountNamed(client: pg.ClientBase, name: string): Promise<Account> {
  return (await findAccount(client, name)) ?? unknownAccount(name)
}

/** In the order of names, after one of them: a million accounts are read a page at a time. */
export async function listAccounts(
  client: pg.ClientBase,
  page: { readonly after: string; readonly limit: number },
): Promise<Account[]> {
  const { rows } = await client.query<Account>(
    `select ${columns} from account where name > $1 order by name limit $2`,
    [page.after, page.limit],
  )
  return rows
}

export async function showAccount(client: pg.ClientBase, name: string): Promise<AccountDetails> {
  const account = await accountNamed(client, name)
  const tallies = await client.query<AccountTally>(
    `select resource, total::float8 as total, version::float8 as version, last_id::float8 as "lastId"
       from tally where account_id = $1 order by resource`,
    [account.accountId],
  )
  const { text, values } =
    sql`select count(*) filter (where ${keyIsValid})::int as valid, count(*)::int as all
from api_key where account_id = ${value(account.accountId)}::bigint`.statement()
  const keys = await client.query<{ valid: number; all: number }>(text, [...values])
  return { ...account, keys: keys.rows[0] ?? { valid: 0, all: 0 }, tallies: tallies.rows }
}

/** Every key of a suspended account stops at its next request; the data stays as it is. */
export async function suspendAccount(client: pg.ClientBase, actor: Actor, name: string): Promise<Account> {
  return await setStatus(client, actor, name, 'suspended')
}

export async function activateAccount(client: pg.ClientBase, actor: Actor, name: string): Promise<Account> {
  return await setStatus(client, actor, name, 'active')
}

/** Holds from the next request on, for what is left of the minute that runs. */
export async function limitAccount(
  client: pg.ClientBase,
  actor: Actor,
  name: string,
  wish: RateParameters,
): Promise<Account> {
  return await inTransaction(client, async (transaction) => {
    const before = await accountNamed(client, name)
    const { requestsPerMinute, keyRequestsPerMinute } = { ...before, ...wish }
    const changed = await one(
      client,
      `update account set requests_per_minute = $2, key_requests_per_minute = $3 where name = $1 returning ${columns}`,
      [name, requestsPerMinute, keyRequestsPerMinute],
    )
    if (changed === undefined) return unknownAccount(name)
    const change = { action: 'account.limit', subject: name, details: limitsOf(changed) } as const
    await transaction.run(auditStatement(changed, actor, change))
    return changed
  })
}

/** For a person. */
export function limitsOf({ requestsPerMinute, keyRequestsPerMinute }: Account): string {
  const said = (most: number | null) => (most === null ? 'as by default' : String(most))
  return `requests a minute: ${said(requestsPerMinute)}; each key: ${said(keyRequestsPerMinute)}`
}

async function setStatus(
  client: pg.ClientBase,
  actor: Actor,
  name: string,
  status: Account['status'],
): Promise<Account> {
  return await inTransaction(client, async (transaction) => {
    const changed = await one(
      client,
      `update account set status = $2 where name = $1 and status <> $2 returning ${columns}`,
      [name, status],
    )
    if (changed === undefined) return await accountNamed(client, name)
    const action = status === 'suspended' ? 'account.suspend' : 'account.activate'
    await transaction.run(auditStatement(changed, actor, { action, subject: name, details: null }))
    return changed
  })
}

async function one(client: pg.ClientBase, text: string, values: unknown[]): Promise<Account | undefined> {
  const { rows } = await client.query<Account>(text, values)
  return rows[0]
}

function unknownAccount(name: string): never {
  throw new Error(
    `There is no account named ${name}. \`quartermaster account list\` shows those there are; ` +
      `\`quartermaster account create ${name}\` makes it.`,
  )
}
