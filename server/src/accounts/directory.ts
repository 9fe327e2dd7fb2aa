import pg from 'pg'
import { type ResourceName, resources } from '../catalog/resources.ts'
import { type IdColumns, type IdSource, idSourceOf } from '../id-source.ts'
import { keyIsValid } from '../key-state.ts'
import { limits } from '../limits/limits.ts'
import type { Connection } from '../postgres/connection.ts'
import { inTransaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { sql, value } from '../sql.ts'
import { type Actor, auditStatement } from './audit.ts'
import { type OriginsRow, originsIn, originsStatement, setCorsOrigins } from './cors-origins.ts'

export interface Account extends AccountScope {
  readonly name: string
  readonly status: 'active' | 'suspended'
  readonly createdAt: Date
  /** Null: the default of the deployment. */
  readonly requestsPerMinute: number | null
  readonly keyRequestsPerMinute: number | null
  /** Null: the default of the service. */
  readonly recordsMax: number | null
  readonly idempotencyResultsMax: number | null
  readonly auditRowsMax: number | null
}

type LimitName =
  | 'requestsPerMinute'
  | 'keyRequestsPerMinute'
  | 'recordsMax'
  | 'idempotencyResultsMax'
  | 'auditRowsMax'

/** An absent member is not changed. Null restores the default. */
export type LimitParameters = { readonly [Name in LimitName]?: number | null }

export interface AccountTally {
  readonly resource: ResourceName
  readonly total: number
  readonly version: number
  readonly lastId: number
  readonly ids: IdSource
  /** The lowest id that the other system may assign; null unless it assigns ids. */
  readonly senderIdsFrom: number | null
}

export interface AccountDetails extends Account {
  /** What the account stores of that which has a quota, besides records. */
  readonly used: { readonly idempotencyResults: number; readonly auditRows: number }
  readonly keys: { readonly valid: number; readonly all: number }
  readonly tallies: readonly AccountTally[]
  readonly corsOrigins: readonly string[]
}

/** A label of a host name, as in the check constraint of the table. */
const namePattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const columns = `account_id as "accountId", name, status, created_at as "createdAt",
  requests_per_minute as "requestsPerMinute", key_requests_per_minute as "keyRequestsPerMinute",
  records_max::float8 as "recordsMax", idempotency_results_max::float8 as "idempotencyResultsMax",
  audit_rows_max::float8 as "auditRowsMax"`

export function checkAccountName(name: string): void {
  if (namePattern.test(name)) return
  throw new Error(
    `${JSON.stringify(name)} cannot be an account name: it is the first label of a host, 1 to 63 lowercase ` +
      'letters, digits and hyphens, with a letter or digit at both ends.',
  )
}

export async function createAccount(
  client: Connection,
  actor: Actor,
  name: string,
  ids: IdSource = 'unassigned',
): Promise<Account> {
  checkAccountName(name)
  try {
    return await inTransaction(client, async (transaction) => {
      const account = await one(client, `insert into account (name) values ($1) returning ${columns}`, [name])
      if (account === undefined) throw new Error('the insert returned no row')
      for (const resource of Object.keys(resources)) {
        await client.query(
          'insert into tally (account_id, resource, own_last_id, service_ids) values ($1, $2, $3, $4)',
          [account.accountId, resource, ids === 'external' ? limits.externalIdMax : null, ids === 'service'],
        )
      }
      const details = ids === 'unassigned' ? null : `ids: ${ids}`
      await transaction.run(
        auditStatement(account, actor, { action: 'account.create', subject: name, details }),
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

/** A page of accounts in order of their names, starting after a name. */
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
  const tallies = await client.query<Pick<AccountTally, 'resource' | 'total' | 'version'> & IdColumns>(
    `select resource, total::float8 as total, version::float8 as version, last_id::text as last_id,
            own_last_id::text as own_last_id, sender_ids_from::text as sender_ids_from, service_ids
       from tally where account_id = $1 order by resource`,
    [account.accountId],
  )
  const { text, values } =
    sql`select count(*) filter (where ${keyIsValid})::int as valid, count(*)::int as all
from api_key where account_id = ${value(account.accountId)}::bigint`.statement()
  const keys = await client.query<{ valid: number; all: number }>(text, [...values])
  const used = await client.query<AccountDetails['used']>(
    `select (select count(*) from idempotency where account_id = $1 and created_at > now() - make_interval(hours => $2))::float8
              as "idempotencyResults",
            (select count(*) from audit where account_id = $1)::float8 as "auditRows"`,
    [account.accountId, limits.idempotencyHours],
  )
  const cors = originsStatement(account)
  const origins = await client.query<OriginsRow>(cors.text, [...cors.values])
  return {
    ...account,
    corsOrigins: originsIn(origins.rows),
    keys: keys.rows[0] ?? { valid: 0, all: 0 },
    tallies: tallies.rows.map(accountTally),
    used: used.rows[0] ?? { idempotencyResults: 0, auditRows: 0 },
  }
}

function accountTally({
  resource,
  total,
  version,
  ...ids
}: Pick<AccountTally, 'resource' | 'total' | 'version'> & IdColumns): AccountTally {
  const source = idSourceOf(ids)
  const senderIdsFrom = source === 'external' ? Number(ids.sender_ids_from) : null
  return { resource, total, version, lastId: Number(ids.last_id), ids: source, senderIdsFrom }
}

/** From the next request on, no key of the account is accepted. Its data are not changed. */
export async function suspendAccount(client: Connection, actor: Actor, name: string): Promise<Account> {
  return await setStatus(client, actor, name, 'suspended')
}

export async function activateAccount(client: Connection, actor: Actor, name: string): Promise<Account> {
  return await setStatus(client, actor, name, 'active')
}

/** Takes effect with the next request, also for the rest of the current minute. */
export async function limitAccount(
  client: Connection,
  actor: Actor,
  name: string,
  parameters: LimitParameters,
): Promise<Account> {
  return await inTransaction(client, async (transaction) => {
    const before = await accountNamed(client, name)
    const next = { ...before, ...parameters }
    const changed = await one(
      client,
      `update account set requests_per_minute = $2, key_requests_per_minute = $3, records_max = $4,
         idempotency_results_max = $5, audit_rows_max = $6 where name = $1 returning ${columns}`,
      [
        name,
        next.requestsPerMinute,
        next.keyRequestsPerMinute,
        next.recordsMax,
        next.idempotencyResultsMax,
        next.auditRowsMax,
      ],
    )
    if (changed === undefined) return unknownAccount(name)
    const change = { action: 'account.limit', subject: name, details: limitsOf(changed).join('; ') } as const
    await transaction.run(auditStatement(changed, actor, change))
    return changed
  })
}

/** Applies within `corsCachedMs`. */
export async function allowOrigins(
  client: Connection,
  actor: Actor,
  name: string,
  origins: readonly string[],
): Promise<void> {
  await inTransaction(client, async (transaction) => {
    await setCorsOrigins(transaction, await accountNamed(client, name), actor, origins)
  })
}

/** Human-readable, in two lines. */
export function limitsOf(account: Account): readonly [rates: string, quotas: string] {
  const text = (max: number | null) => (max === null ? 'default' : String(max))
  const { records, idempotencyResults, auditRows } = quotasOf(account)
  return [
    `requests per minute: ${text(account.requestsPerMinute)}; per key: ${text(account.keyRequestsPerMinute)}`,
    `quotas: ${records} records of each resource, ${idempotencyResults} results for an Idempotency-Key, ${auditRows} audit entries`,
  ]
}

/** The quotas in force. */
export function quotasOf({ recordsMax, idempotencyResultsMax, auditRowsMax }: Account) {
  return {
    records: recordsMax ?? limits.recordsMax,
    idempotencyResults: idempotencyResultsMax ?? limits.idempotencyResultsMax,
    auditRows: auditRowsMax ?? limits.auditRowsMax,
  }
}

async function setStatus(
  client: Connection,
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
    `There is no account named ${name}. \`quartermaster account list\` lists the accounts; ` +
      `\`quartermaster account create ${name}\` creates it.`,
  )
}
