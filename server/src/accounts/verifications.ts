import type { ResourceName } from '../catalog/resources.ts'
import { keyIsValid } from '../key-state.ts'
import { limits } from '../limits/limits.ts'
import type { Database } from '../postgres/database.ts'
import type { AccountScope } from '../scope.ts'
import { constant, type Fragment, placeholder, type Statement, sql, type Template } from '../sql.ts'
import { epoch, type Tally, writerColumn } from '../tally-state.ts'
import { type Scope, scopeSet } from './key-format.ts'

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
  /** Of the server that ran the statement. */
  readonly epoch: string
  /** `n key_id scope+scope rate key_rate records_max epoch version xid total writer` for each valid key, separated by commas. */
  readonly found: string | null
}

/** Resolves each verification of a batch. Rejects if nothing is known about any of them. Reads who wrote a tally if there are replicas. */
export async function verifyKeys(
  database: Database,
  batch: readonly Verification[],
  hasReplicas: boolean,
): Promise<void> {
  const template = hasReplicas ? verificationWithWriter : verificationTemplate
  const [row] = await database.read<VerificationRow>(verificationStatement(template, batch))
  const results = row === undefined ? [] : resultsOf(row, batch)
  for (let i = 0; i < batch.length; i++) batch[i]?.resolve(results[i])
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
      scopes: scopeSet(granted.split('+')),
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

const accounts = placeholder()
const hashes = placeholder()
const requestedResources = placeholder()

/**
 * The left joins make PostgreSQL find the key before it reads the account and the tally, so that a wrong key takes the same time in
 * every account.
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
export function arrayOf(elements: readonly string[]): string {
  return `{${elements.join(',')}}`
}
