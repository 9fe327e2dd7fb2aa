import type pg from 'pg'
import type { ResourceName } from '../catalog/resources.ts'
import { accountUnknown, Failure } from '../errors/errors.ts'
import { type IdColumns, type IdSource, idSourceOf } from '../id-source.ts'
import { keyIsValid } from '../key-state.ts'
import { limits } from '../limits/limits.ts'
import type { AccountScope } from '../scope.ts'
import { type Statement, sql, value } from '../sql.ts'
import { type OriginsRow, originsIn, originsStatement } from './cors-origins.ts'
import { type Deletion, deletionJson, deletionStatement } from './lifecycle/deletion.ts'

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

export type LimitName =
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
  readonly deletion: Deletion | undefined
}

/** A label of a host name, as in the check constraint of the table. */
const namePattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
export const accountColumns = sql`account_id as "accountId", name, status, created_at as "createdAt",
  requests_per_minute as "requestsPerMinute", key_requests_per_minute as "keyRequestsPerMinute",
  records_max::float8 as "recordsMax", idempotency_results_max::float8 as "idempotencyResultsMax",
  audit_rows_max::float8 as "auditRowsMax"`

export function checkAccountName(name: string): void {
  if (namePattern.test(name)) return
  throw new Failure(
    'request_invalid',
    `${JSON.stringify(name)} cannot be an account name: it is the first label of a host, 1 to 63 lowercase ` +
      'letters, digits and hyphens, with a letter or digit at both ends.',
  )
}

export function accountsStatement(names: readonly string[]): Statement {
  return sql`select ${accountColumns} from account where name = any(${value(names)}::text[])`.statement(
    'account',
  )
}

export async function findAccount(client: pg.ClientBase, name: string): Promise<Account | undefined> {
  const { text, values } = accountsStatement([name])
  const { rows } = await client.query<Account>(text, [...values])
  return rows[0]
}

export async function accountNamed(client: pg.ClientBase, name: string): Promise<Account> {
  const account = await findAccount(client, name)
  if (account === undefined) throw accountUnknown(name)
  return account
}

/** A page of accounts in order of their names, starting after a name. */
export async function listAccounts(
  client: pg.ClientBase,
  page: { readonly after: string; readonly limit: number },
): Promise<Account[]> {
  const { text, values } = sql`select ${accountColumns} from account where name > ${value(page.after)}::text
order by name limit ${value(page.limit)}::int`.statement('account')
  const { rows } = await client.query<Account>(text, [...values])
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
  const deletion = deletionStatement(name)
  const deletions = await client.query<Deletion>(deletion.text, [...deletion.values])
  return {
    ...account,
    corsOrigins: originsIn(origins.rows),
    deletion: deletions.rows[0],
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

/** The JSON of an account on the command line and in the operator API. */
export function accountJson(account: Account) {
  const quotas = quotasOf(account)
  return {
    account_id: Number(account.accountId),
    name: account.name,
    status: account.status,
    created_at: account.createdAt,
    requests_per_minute: account.requestsPerMinute,
    key_requests_per_minute: account.keyRequestsPerMinute,
    records_max: quotas.records,
    idempotency_results_max: quotas.idempotencyResults,
    audit_rows_max: quotas.auditRows,
  }
}

export function detailsJson(account: AccountDetails) {
  const { keys, tallies, used, corsOrigins, deletion } = account
  return {
    ...accountJson(account),
    keys,
    used: { idempotency_results: used.idempotencyResults, audit_rows: used.auditRows },
    cors_origins: corsOrigins,
    deletion: deletion === undefined ? null : deletionJson(deletion),
    tallies: tallies.map(({ lastId, ids, senderIdsFrom, ...rest }) => ({
      ...rest,
      last_id: lastId,
      ids,
      sender_ids_from: senderIdsFrom,
    })),
  }
}
