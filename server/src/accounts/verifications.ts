import type { ResourceName } from '../catalog/resources.ts'
import { keyIsValid } from '../key-state.ts'
import { limits } from '../limits/limits.ts'
import type { Database } from '../postgres/database.ts'
import type { AccountScope } from '../scope.ts'
import { constant, type Fragment, placeholder, type Statement, sql, type Template } from '../sql.ts'
import { epoch, stableStateColumns, type Tally, type TallyState, writerColumn } from '../tally-state.ts'
import type { Topology } from '../topology.ts'
import { type Scope, scopes } from './key-format.ts'

/** The account of an accepted key, and what the key may do. */
export interface Access extends AccountScope {
  readonly keyId: string
  readonly scopes: ReadonlySet<Scope>
  /** Set by the operator for this account. 0: the default of the deployment. */
  readonly requestsPerMinute: number
  readonly keyRequestsPerMinute: number
  /** Records of each resource. */
  readonly recordsMax: number
}

export interface Verified {
  readonly access: Access
  /** Read after the request arrived. Undefined if the request is not for a resource. */
  readonly tally: Tally | undefined
  /** The text from which it was parsed, if there is one. */
  readonly text?: string
}

export interface LastVerification {
  readonly verified: Verified
  readonly resource: ResourceName | undefined
}

/** A key to verify. */
export interface Verification {
  readonly accountId: string
  /** SHA-256 of the key, in hexadecimal. */
  readonly hash: string
  readonly resource: ResourceName | undefined
  readonly since: number
  /** The last successful verification of this key. */
  readonly last: LastVerification | undefined
  readonly resolve: (verified: Verified | undefined) => void
  readonly reject: (error: unknown) => void
}

interface VerificationRow {
  /** Of the server that ran the statement. On a distributed database, `found` has the epoch of each account's server. */
  readonly epoch: string
  /** `n key_id scope+scope rate key_rate records_max epoch version xid total writer` for each valid key, separated by commas. */
  readonly found: string | null
}

/** Resolves each verification of a batch. Rejects if nothing is known about any of them. Reads who wrote a tally if there are replicas. */
type Verify = (database: Database, batch: readonly Verification[], hasReplicas: boolean) => Promise<void>

export const verifications: Record<Topology, Verify> = {
  single: async (database, batch, hasReplicas) => {
    const template = hasReplicas ? verificationWithWriter : verificationTemplate
    const [row] = await database.read<VerificationRow>(verificationStatement(template, batch))
    const results = row === undefined ? [] : resultsOf(row, batch)
    for (let i = 0; i < batch.length; i++) batch[i]?.resolve(results[i])
  },
  distributed: async (database, batch) => {
    const ofAccounts = Map.groupBy(batch, ({ accountId }) => accountId)
    await Promise.all([...ofAccounts].map(([accountId, each]) => verifyOfAccount(database, accountId, each)))
  },
}

function resultsOf(
  { epoch: current, found }: VerificationRow,
  batch: readonly Verification[],
): (Verified | undefined)[] {
  const results: (Verified | undefined)[] = batch.map(() => undefined)
  if (found === null) return results
  for (let start = 0; start < found.length; ) {
    const space = found.indexOf(' ', start)
    const comma = found.indexOf(',', space)
    const end = comma < 0 ? found.length : comma
    const n = Number(found.slice(start, space))
    const each = batch[n - 1]
    if (each !== undefined) {
      const unchanged = unchangedResult(each, found, space + 1, end)
      results[n - 1] = unchanged ?? resultOf(each, found.slice(space + 1, end), current)
    }
    start = end + 1
  }
  return results
}

/**
 * The result of the last verification, if nothing has changed since. A new one would be stored instead of it, and so outlive its
 * request, at the cost of the garbage collector.
 */
function unchangedResult(
  { last, resource }: Verification,
  found: string,
  start: number,
  end: number,
): Verified | undefined {
  if (last?.verified.text === undefined || last.resource !== resource) return undefined
  const { text } = last.verified
  return text.length === end - start && found.startsWith(text, start) ? last.verified : undefined
}

function resultOf({ accountId }: Verification, entry: string, current: string): Verified {
  // A substring would retain all of `found` in memory while the result is stored.
  const text = Buffer.from(entry, 'latin1').toString('latin1')
  const [keyId = '', granted = '', rate, keyRate, recordsMax, server = '', version, xid = '', total, writer] =
    text.split(' ')
  return {
    access: {
      accountId,
      keyId,
      scopes: scopeSet(granted),
      requestsPerMinute: Number(rate),
      keyRequestsPerMinute: Number(keyRate),
      recordsMax: Number(recordsMax),
    },
    tally:
      version === undefined || version === ''
        ? undefined
        : { epoch: server === current ? current : server, version, xid, total: Number(total), writer },
    text,
  }
}

/** Memoized: there are only 32 combinations of scopes. */
const scopeSets = new Map<string, ReadonlySet<Scope>>()

function scopeSet(granted: string): ReadonlySet<Scope> {
  let set = scopeSets.get(granted)
  if (set === undefined) {
    const names = granted.split('+')
    set = new Set(scopes.filter((scope) => names.includes(scope)))
    scopeSets.set(granted, set)
  }
  return set
}

const accounts = placeholder()
const hashes = placeholder()
const requestedResources = placeholder()

/**
 * `account_id = any($1)` lets a distributed database send it only to the shards of these accounts. The left joins make
 * PostgreSQL find the key before it reads the account and the tally, so that a wrong key takes the same time in every account.
 */
const verification = (more: Fragment) =>
  sql`select ${epoch} as epoch, string_agg(
  concat_ws(' ', q.n, k.key_id, array_to_string(k.scopes, '+'), coalesce(a.requests_per_minute, 0),
    coalesce(a.key_requests_per_minute, 0),
    coalesce(a.records_max, ${constant(limits.recordsMax)}), ${epoch}, t.version, t.xmin, t.total${more}), ',')
  filter (where a.status = 'active') as found
from unnest(${accounts}::bigint[], ${hashes}::text[], ${requestedResources}::text[]) with ordinality q(account_id, hash, resource, n)
join api_key k on k.account_id = q.account_id and k.hash = decode(q.hash, 'hex')
left join account a on a.account_id = k.account_id
left join tally t on t.account_id = k.account_id and t.resource = q.resource
where k.account_id = any(${accounts}::bigint[]) and ${keyIsValid}`.template(
    [accounts, hashes, requestedResources],
    'verify_key',
    'pipelined',
  )
const verificationTemplate = verification(sql``)
/** `concat_ws` omits it if it is null. */
const verificationWithWriter = verification(sql`, ${writerColumn}`)

function verificationStatement(template: Template, batch: readonly Verification[]): Statement {
  return template([
    arrayOf(batch.map(({ accountId }) => accountId)),
    arrayOf(batch.map(({ hash }) => hash)),
    arrayOf(batch.map(({ resource }) => resource ?? 'none')),
  ])
}

/** An array literal of PostgreSQL. Account ids, hashes and resource names need no quotes. */
function arrayOf(elements: readonly string[]): string {
  return `{${elements.join(',')}}`
}

interface KeyRow {
  readonly hash: string
  readonly key_id: string
  readonly scopes: string
}

interface TallyRow extends TallyState {
  readonly resource: string
  readonly total: string
}

interface AccountLimits {
  readonly rate: string
  readonly key_rate: string
  readonly records_max: string
}

/**
 * On Citus, the keys of each account by statements of its own, so that a worker that is away affects its own accounts only. Each
 * reads one table by the account, which Citus plans six times as fast as a join. All three are sent after the requests arrived.
 */
async function verifyOfAccount(
  database: Database,
  accountId: string,
  batch: readonly Verification[],
): Promise<void> {
  const requested = batch.flatMap(({ resource }) => resource ?? [])
  const reads = database.nodeOf({ accountId })
  try {
    const [keys, tallies, [account]] = await Promise.all([
      reads.read<KeyRow>(keysTemplate([accountId, bytesOf(batch.map(({ hash }) => hash))])),
      reads.read<TallyRow>(talliesTemplate([accountId, arrayOf([...new Set(requested)])])),
      reads.read<AccountLimits>(accountTemplate([accountId])),
    ])
    for (const { hash, resource, resolve } of batch) {
      const key = keys.find((row) => row.hash === hash)
      const tally = tallies.find((row) => row.resource === resource)
      resolve(
        account &&
          key && {
            access: {
              accountId,
              keyId: key.key_id,
              scopes: scopeSet(key.scopes),
              requestsPerMinute: Number(account.rate),
              keyRequestsPerMinute: Number(account.key_rate),
              recordsMax: Number(account.records_max),
            },
            tally: tally && { ...tally, total: Number(tally.total) },
          },
      )
    }
  } catch (error) {
    for (const { reject } of batch) reject(error)
  }
}

const account = placeholder()

const keysTemplate =
  sql`select encode(k.hash, 'hex') as hash, k.key_id, array_to_string(k.scopes, '+') as scopes
from api_key k where k.account_id = ${account}::bigint and k.hash = any(${hashes}::bytea[]) and ${keyIsValid}`.template(
    [account, hashes],
    'verify_key',
    'pipelined',
  )

const talliesTemplate = sql`select t.resource, ${stableStateColumns}, t.total from tally t
where t.account_id = ${account}::bigint and t.resource = any(${requestedResources}::text[])`.template(
  [account, requestedResources],
  'verify_key',
  'pipelined',
)

const accountTemplate =
  sql`select coalesce(requests_per_minute, 0) as rate, coalesce(key_requests_per_minute, 0) as key_rate,
  coalesce(records_max, ${constant(limits.recordsMax)}) as records_max
from account where account_id = ${account}::bigint and status = 'active'`.template(
    [account],
    'verify_key',
    'pipelined',
  )

/** An array literal of bytea from hexadecimal digits. */
function bytesOf(digits: readonly string[]): string {
  return `{${digits.map((each) => `"\\\\x${each}"`).join(',')}}`
}
