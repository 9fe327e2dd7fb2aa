import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { ResourceName } from '../catalog/resources.ts'
import { overloaded } from '../errors.ts'
import { keyIsValid } from '../key-state.ts'
import { limits } from '../limits.ts'
import type { EmitEvent } from '../observability/events.ts'
import type { Database } from '../postgres/database.ts'
import type { AccountScope } from '../scope.ts'
import { placeholder, type Statement, sql } from '../sql.ts'
import { epoch, type Tally } from '../tally-state.ts'
import { hashOfKey, type Scope, scopes } from './key-format.ts'

/** What an accepted key may do, and in which account. */
export interface Access extends AccountScope {
  readonly keyId: string
  readonly scopes: ReadonlySet<Scope>
  /** As the operator set them for the account; 0 where it has what the deployment gives every account. */
  readonly requestsPerMinute: number
  readonly keyRequestsPerMinute: number
}

export interface Verified {
  readonly access: Access
  /** Current at some moment after the request arrived. Absent where the request is about no resource. */
  readonly tally: Tally | undefined
}

interface Question {
  readonly accountId: string
  /** SHA-256 of the key, in hexadecimal. */
  readonly hash: string
  readonly resource: ResourceName | undefined
  readonly since: number
  readonly answer: (check: Verified | undefined) => void
  readonly fail: (error: unknown) => void
}

interface CheckRow {
  /** Of the server that was asked. On a distributed database each account's own is in its entry. */
  readonly epoch: string
  /** `n key_id scope+scope rate key_rate epoch version xid total` for each question that found its key, separated by commas. */
  readonly found: string | null
}

interface AccountRow {
  readonly name: string
  readonly account_id: string | null
}

/** No account has this id. */
const NO_ACCOUNT_ID = '0'
/** No account has this name: none begins with a hyphen. It is looked up for hosts that name no account at all. */
const NO_ACCOUNT_NAME = '-'

/** Where a key was accepted before. */
interface KeyAccount {
  readonly accountName: string
  readonly accountId: string
}

/**
 * Tells who is asking and what state their data are in. There is one "no": which part was wrong is not said.
 *
 * The questions of all requests that wait in one turn of the event loop are one statement. It is sent after they
 * arrived, so a key revoked or a record written before that is seen by it, whichever process did it.
 */
export class KeyVerifier {
  readonly #database: Database
  readonly #emit: EmitEvent
  /**
   * The account ids of keys that were accepted, by the key's hash. An account name is never given to another account, so
   * the id stays right; whether the key does is checked every time. Cached by host name instead, the id would let a
   * wrong key be refused sooner on a host that exists than on one that does not.
   */
  readonly #accepted = new LRUCache<string, KeyAccount>({ max: limits.keyAccountsCached })
  /** An account that exists: keys sent to unknown hosts are checked against it, in vain, so that it takes as long. */
  #decoyId = NO_ACCOUNT_ID
  /** Account names to be looked up at the end of this turn of the event loop, and the lookup that will include them. */
  #names = new Set<string>()
  #lookup: Promise<ReadonlyMap<string, string | null>> | undefined
  #lookingUp = 0
  #waiting: Question[] = []
  #scheduled = false
  /** Statements under way, and the questions in them. */
  #underWay = 0
  #asked = 0

  constructor(database: Database, emit: EmitEvent) {
    this.#database = database
    this.#emit = emit
  }

  /** Requests that have no answer yet, in a statement or before it. */
  get waiting(): number {
    return this.#waiting.length + this.#asked + this.#lookingUp
  }

  /** When the first of those that are in no statement yet came, by `performance.now()`. */
  get waitingSince(): number {
    return this.#waiting[0]?.since ?? Number.POSITIVE_INFINITY
  }

  /** Every request comes through here. One whose key was accepted before costs one statement. */
  async check(
    accountName: string = NO_ACCOUNT_NAME,
    key: string,
    resource: ResourceName | undefined,
  ): Promise<Verified | undefined> {
    const hash = hashOfKey(key)
    if (hash === undefined) return undefined
    const accepted = this.#accepted.get(hash)
    if (accepted?.accountName !== accountName) return this.#checkNew(accountName, hash, resource)
    const check = await this.#answerTo(accepted.accountId, hash, resource)
    if (check === undefined) {
      // Revoked or expired since. It costs the two statements of every other refusal, so that the time tells nothing.
      this.#accepted.delete(hash)
      const accountId = await this.#accountId(accountName)
      // After a restore the account may have another id.
      if (accountId != null && accountId !== accepted.accountId)
        return await this.#answerTo(accountId, hash, resource)
    }
    return check
  }

  /**
   * A key not accepted on this host before, whether the host exists or not: two statements, the same ones for every
   * reason to refuse it. `docs/security.md` promises that accounts cannot be told apart by time.
   */
  async #checkNew(
    accountName: string,
    hash: string,
    resource: ResourceName | undefined,
  ): Promise<Verified | undefined> {
    const accountId = await this.#accountId(accountName)
    if (accountId == null) {
      await this.#answerTo(this.#decoyId, noKeyHash(hash), resource)
      return undefined
    }
    const check = await this.#answerTo(accountId, hash, resource)
    if (check === undefined) return undefined
    this.#accepted.set(hash, { accountName, accountId })
    this.#decoyId = accountId
    return check
  }

  #answerTo(
    accountId: string,
    hash: string,
    resource: ResourceName | undefined,
  ): Promise<Verified | undefined> {
    if (this.waiting >= limits.verificationsWaitingMax) return Promise.reject(overloaded())
    return new Promise((answer, fail) => {
      this.#waiting.push({ accountId, hash, resource, since: performance.now(), answer, fail })
      this.#schedule()
    })
  }

  /** The names of all requests of one turn of the event loop are looked up by one statement. */
  async #accountId(accountName: string): Promise<string | null | undefined> {
    if (this.waiting >= limits.verificationsWaitingMax) throw overloaded()
    this.#names.add(accountName)
    this.#lookup ??= this.#lookUp()
    this.#lookingUp++
    try {
      return (await this.#lookup).get(accountName)
    } finally {
      this.#lookingUp--
    }
  }

  async #lookUp(): Promise<ReadonlyMap<string, string | null>> {
    await nextTurn()
    const names = [...this.#names]
    this.#names = new Set()
    this.#lookup = undefined
    const rows = await this.#database.read<AccountRow>(accountIds([names]))
    return new Map(rows.map((row) => [row.name, row.account_id]))
  }

  /** While statements are under way, questions gather: the busier the process, the more of them share one. */
  #schedule(): void {
    if (this.#scheduled || this.#underWay >= limits.verificationsInFlightMax || this.#waiting.length === 0)
      return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      const questions = this.#waiting.splice(0, limits.verificationBatchMax)
      this.#underWay++
      this.#asked += questions.length
      this.#emit({ kind: 'keys-verified', questions: questions.length })
      void this.#ask(questions).finally(() => {
        this.#underWay--
        this.#asked -= questions.length
        this.#schedule()
      })
    })
  }

  async #ask(questions: readonly Question[]): Promise<void> {
    try {
      const [row] = await this.#database.read<CheckRow>(checkStatement(questions))
      const checks = row === undefined ? [] : checksOf(row, questions)
      for (const [i, question] of questions.entries()) question.answer(checks[i])
    } catch (error) {
      for (const question of questions) question.fail(error)
    }
  }
}

/** A hash that is no key's, of a key that may be the decoy's own. */
function noKeyHash(hash: string): string {
  return hash.slice(1) + hash.slice(0, 1)
}

function checksOf(
  { epoch: current, found }: CheckRow,
  questions: readonly Question[],
): (Verified | undefined)[] {
  const checks: (Verified | undefined)[] = questions.map(() => undefined)
  if (found === null) return checks
  for (const entry of found.split(',')) {
    const [n = '', keyId = '', granted = '', rate, keyRate, server = '', version, xid = '', total] =
      entry.split(' ')
    const question = questions[Number(n) - 1]
    if (question === undefined) continue
    checks[Number(n) - 1] = {
      access: {
        accountId: question.accountId,
        keyId,
        scopes: scopeSet(granted),
        requestsPerMinute: Number(rate),
        keyRequestsPerMinute: Number(keyRate),
      },
      tally:
        version === undefined || version === ''
          ? undefined
          : // The same string for all: a piece of a long one keeps the whole of it in pageCache.
            { epoch: server === current ? current : server, version, xid, total: Number(total) },
    }
  }
  return checks
}

/** There are 32 combinations of scopes; each is made once. */
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

const names = placeholder()
/** One row for each name, found or not: the answers take as long to read. */
const accountIds = sql`select q.name, a.account_id from unnest(${names}::text[]) q(name)
left join account a on a.name = q.name`.template([names], 'account', 'pipelined')

const accounts = placeholder()
const hashes = placeholder()
const asked = placeholder()

/**
 * The one statement that names several accounts. `account_id = any($1)` beside the joins lets a distributed database
 * send it only to the shards that hold those accounts. Left joins keep PostgreSQL from looking at the account or the
 * tally before it has found the key, so that a wrong key costs the same in every account.
 */
const check = sql`select ${epoch} as epoch, string_agg(
  concat_ws(' ', q.n, k.key_id, array_to_string(k.scopes, '+'), coalesce(a.requests_per_minute, 0),
    coalesce(a.key_requests_per_minute, 0), ${epoch}, t.version, t.xmin, t.total), ',')
  filter (where a.status = 'active') as found
from unnest(${accounts}::bigint[], ${hashes}::text[], ${asked}::text[]) with ordinality q(account_id, hash, resource, n)
join api_key k on k.account_id = q.account_id and k.hash = decode(q.hash, 'hex')
left join account a on a.account_id = k.account_id
left join tally t on t.account_id = k.account_id and t.resource = q.resource
where k.account_id = any(${accounts}::bigint[]) and ${keyIsValid}`.template(
  [accounts, hashes, asked],
  'verify_key',
  'pipelined',
)

function checkStatement(questions: readonly Question[]): Statement {
  return check([
    arrayOf(questions.map((question) => question.accountId)),
    arrayOf(questions.map((question) => question.hash)),
    arrayOf(questions.map((question) => question.resource ?? 'none')),
  ])
}

/** As PostgreSQL writes an array. Numbers, hashes and names of ours: nothing in them needs quotes. */
function arrayOf(plain: readonly string[]): string {
  return `{${plain.join(',')}}`
}
