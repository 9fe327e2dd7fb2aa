import { setImmediate as nextIteration } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { BatchQueue } from '../batch-queue.ts'
import { overloaded } from '../errors/errors.ts'
import { keyIsValid } from '../key-state.ts'
import { limits } from '../limits/limits.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { EmitEvent } from '../observability/events.ts'
import type { Database } from '../postgres/database.ts'
import { constant, type Fragment, placeholder, type StateStatement, type StateTemplate, sql } from '../sql.ts'
import { epoch, epochColumn, writerColumn } from '../tally-state.ts'
import { hashOfKey, scopeSet } from './key-format.ts'
import type { Access, LastVerification, Requested, Verification, Verified } from './verifications.ts'

export interface AccountRow {
  readonly name: string
  readonly account_id: string | null
}

/** No account has this id. */
const NO_ACCOUNT_ID = '0'
/** No account has this name, because none begins with a hyphen. It is looked up for hosts that name no account. */
const NO_ACCOUNT_NAME = '-'

/** A key that has been accepted. */
interface AcceptedKey extends LastVerification {
  readonly accountName: string
  readonly accountId: string
  /** The last verification: its result, what it read, and when it ended, by `performance.now()`. */
  verified: Verified
  requested: Requested | undefined
  verifiedAt: number
}

export interface KeyVerification {
  /** What the key could do when this process accepted it last, if that was at most `readAheadMs` ago. */
  readonly recent: Access | undefined
  /** Undefined if the key is not valid for this account. */
  readonly result: Promise<Verified | undefined>
}

/**
 * Verifies API keys, and reads the tally of the requested resource in the same statement. The result does not say why a key
 * was rejected.
 *
 * One statement verifies the keys of all requests that arrived in an event-loop iteration. It is sent after they
 * arrived, so it sees every revocation and every write that was committed before, by whichever process.
 */
export class KeyVerifier {
  readonly #database: Database
  readonly #emit: EmitEvent
  readonly #readAheadMs: number
  readonly #hasReplicas: boolean
  /**
   * The account ids of accepted keys, by the hash of the key. An account name is never reused, so the id cannot become
   * wrong; the key itself is verified with every request. A cache by host name would make the rejection of a wrong key
   * faster on hosts that exist, and so reveal which do.
   */
  readonly #accepted = new LRUCache<string, AcceptedKey>({ max: limits.keyAccountsCached })
  /** An existing account. Keys for unknown hosts are verified against it with a wrong hash, so that it takes as long. */
  #decoyId = NO_ACCOUNT_ID
  /** Account names to look up at the end of this event-loop iteration, and the promise of that lookup. */
  #names = new Set<string>()
  #lookup: Promise<ReadonlyMap<string, string | null>> | undefined
  /** Requests that wait for the id of their account. */
  #lookupsInFlight = 0
  readonly #queue = new BatchQueue<Verification>({
    inFlightMax: limits.verificationsInFlightMax,
    take: (waiting) => waiting.splice(0, limits.verificationBatchMax),
    run: (batch) => this.#run(batch),
  })

  /** `hasReplicas`: the tally must name its writer, for comparison with a replica. */
  constructor(database: Database, emit: EmitEvent, { readAheadMs }: Limits, hasReplicas = false) {
    this.#database = database
    this.#hasReplicas = hasReplicas
    this.#emit = emit
    this.#readAheadMs = readAheadMs
  }

  /** Requests whose key is not verified yet. */
  get waiting(): number {
    return this.#queue.size + this.#lookupsInFlight
  }

  /** When the oldest request that is in no statement yet arrived, by `performance.now()`. Infinity if there is none. */
  get waitingSince(): number {
    return this.#queue.oldest?.since ?? Number.POSITIVE_INFINITY
  }

  /** Queues the key for the next statement. */
  verify(
    accountName: string = NO_ACCOUNT_NAME,
    key: string,
    requested: Requested | undefined,
  ): KeyVerification {
    const hash = hashOfKey(key)
    if (hash === undefined) return { recent: undefined, result: Promise.resolve(undefined) }
    const accepted = this.#accepted.get(hash)
    if (accepted?.accountName !== accountName)
      return { recent: undefined, result: this.#verifyNew(accountName, hash, requested) }
    const isRecent = performance.now() - accepted.verifiedAt <= this.#readAheadMs
    const recent = isRecent ? accepted.verified.access : undefined
    return { recent, result: this.#verifyAgain(accepted, hash, requested) }
  }

  /** A key that has been accepted before costs one statement. */
  async #verifyAgain(
    accepted: AcceptedKey,
    hash: string,
    requested: Requested | undefined,
  ): Promise<Verified | undefined> {
    const { accountName } = accepted
    const verified = await this.#verifyIn(accepted.accountId, hash, requested, accepted)
    if (verified !== undefined) {
      accepted.verifiedAt = performance.now()
      accepted.verified = verified
      accepted.requested = requested
    } else {
      // Revoked or expired meanwhile. Two statements, as for every other rejection, so that the time reveals nothing.
      this.#accepted.delete(hash)
      const accountId = await this.#accountId(accountName)
      // After a restore the account may have another id.
      if (accountId != null && accountId !== accepted.accountId)
        return await this.#verifyIn(accountId, hash, requested)
    }
    return verified
  }

  /**
   * For a key that has not been accepted on this host. Runs the same two statements whether the host exists or not,
   * because `docs/security.md` promises that response times do not reveal which accounts exist.
   */
  async #verifyNew(
    accountName: string,
    hash: string,
    requested: Requested | undefined,
  ): Promise<Verified | undefined> {
    const accountId = await this.#accountId(accountName)
    if (accountId == null) {
      await this.#verifyIn(this.#decoyId, wrongHashOf(hash), requested)
      return undefined
    }
    const verified = await this.#verifyIn(accountId, hash, requested)
    if (verified === undefined) return undefined
    this.#accepted.set(hash, { accountName, accountId, verified, requested, verifiedAt: performance.now() })
    this.#decoyId = accountId
    return verified
  }

  /** Queues a verification for the next statement. */
  #verifyIn(
    accountId: string,
    hash: string,
    requested: Requested | undefined,
    last?: LastVerification,
  ): Promise<Verified | undefined> {
    if (this.waiting >= limits.verificationsWaitingMax) return Promise.reject(overloaded())
    return new Promise((resolve, reject) => {
      this.#queue.add({ accountId, hash, requested, since: performance.now(), last, resolve, reject })
    })
  }

  /** One statement looks up the account names of all requests of an event-loop iteration. Null if there is no account. */
  async #accountId(accountName: string): Promise<string | null | undefined> {
    if (this.waiting >= limits.verificationsWaitingMax) throw overloaded()
    this.#names.add(accountName)
    this.#lookup ??= this.#lookUp()
    this.#lookupsInFlight++
    try {
      return (await this.#lookup).get(accountName)
    } finally {
      this.#lookupsInFlight--
    }
  }

  async #lookUp(): Promise<ReadonlyMap<string, string | null>> {
    await nextIteration()
    const names = [...this.#names]
    this.#names = new Set()
    this.#lookup = undefined
    const rows = await this.#database.read<AccountRow>(accountIds([names]))
    return new Map(rows.map((row) => [row.name, row.account_id]))
  }

  async #run(batch: readonly Verification[]): Promise<void> {
    this.#emit({ kind: 'keys-verified', keys: batch.length })
    try {
      const verify = await this.#database.form(verifyKeys)
      await verify(this.#database, batch, this.#hasReplicas)
    } catch (error) {
      for (const verification of batch) verification.reject(error)
    }
  }
}

/** The hash of no key. Not the hash itself, because the key may belong to the decoy account. */
function wrongHashOf(hash: string): string {
  return hash.slice(1) + hash.slice(0, 1)
}

const names = placeholder()
/** One row for each name, found or not, so that reading the result takes the same time. */
export const accountIds = sql`select q.name, a.account_id from unnest(${names}::text[]) q(name)
left join account a on a.name = q.name`.template([names], 'account', 'pipelined')

interface VerificationRow {
  /** Of the server that ran the statement. */
  readonly epoch: string
  /** `n key_id scope+scope rate key_rate records_max schema epoch version xid total writer` for each valid key, separated by commas; without
   * `epoch` and all that follows if only the schema was requested. */
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
  { last, requested }: Verification,
  found: string,
  start: number,
  end: number,
): Verified | undefined {
  if (last?.verified.text === undefined || last.requested !== requested) return undefined
  const { text } = last.verified
  return text.length === end - start && found.startsWith(text, start) ? last.verified : undefined
}

function resultOf({ accountId }: Verification, entry: string, current: string): Verified {
  // A substring would retain all of `found` in memory while the result is stored.
  const text = Buffer.from(entry, 'latin1').toString('latin1')
  const [
    keyId = '',
    granted = '',
    rate,
    keyRate,
    recordsMax,
    schema,
    server = '',
    version,
    xid = '',
    total,
    writer,
  ] = text.split(' ')
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
        : {
            epoch: server === current ? current : server,
            version,
            xid,
            total: Number(total),
            schema: Number(schema),
            writer,
          },
    schema: schema === undefined ? undefined : Number(schema),
    text,
  }
}

const accounts = placeholder()
const hashes = placeholder()
const requestedResources = placeholder()
const requestedTallies = placeholder()

/**
 * The left joins make PostgreSQL find the key before it reads the account and the tally, so that a wrong key takes the same time in
 * every account.
 */
const verification = (more: Fragment) =>
  sql`select ${epochColumn}, string_agg(
  concat_ws(' ', q.n, k.key_id, array_to_string(k.scopes, '+'), coalesce(a.requests_per_minute, 0),
    coalesce(a.key_requests_per_minute, 0),
    coalesce(a.records_max, ${constant(limits.recordsMax)}), t.schema, case when q.reads_tally and t.version is not null then concat_ws(' ', ${epoch}, t.version, t.xmin, t.total${more}) end), ',')
  filter (where a.status = 'active') as found
from unnest(${accounts}::bigint[], ${hashes}::text[], ${requestedResources}::text[], ${requestedTallies}::boolean[]) with ordinality q(account_id, hash, resource, reads_tally, n)
join api_key k on k.account_id = q.account_id and k.hash = decode(q.hash, 'hex')
left join account a on a.account_id = k.account_id
left join tally t on t.account_id = k.account_id and t.resource = q.resource
where k.account_id = any(${accounts}::bigint[]) and ${keyIsValid}`.template(
    [accounts, hashes, requestedResources, requestedTallies],
    'verify_key',
    'pipelined',
  )
const verificationTemplate = verification(sql``)
/** `concat_ws` omits it if it is null. */
const verificationWithWriter = verification(sql`, ${writerColumn}`)

function verificationStatement(template: StateTemplate, batch: readonly Verification[]): StateStatement {
  return template([
    arrayOf(batch.map(({ accountId }) => accountId)),
    arrayOf(batch.map(({ hash }) => hash)),
    arrayOf(batch.map(({ requested }) => requested?.resource ?? 'none')),
    arrayOf(batch.map(({ requested }) => (requested?.reads === 'tally' ? 't' : 'f'))),
  ])
}

/** An array literal of PostgreSQL. Account ids, hashes and resource names need no quotes. */
export function arrayOf(elements: readonly string[]): string {
  return `{${elements.join(',')}}`
}
