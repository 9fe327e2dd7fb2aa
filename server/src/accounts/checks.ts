import { LRUCache } from 'lru-cache'
import type { ResourceName } from '../catalog/resources.ts'
import { overloaded } from '../errors.ts'
import { limits } from '../limits.ts'
import type { AccountScope } from '../scope.ts'
import { hole, type Statement, sql } from '../sql.ts'
import type { Store } from '../store/pool.ts'
import { history, type Tally } from '../tally-state.ts'
import type { Tell } from '../telemetry/events.ts'
import { hashOfKey, type Scope, scopes } from './key.ts'

/** What an accepted key may do, and in which account. */
export interface Access extends AccountScope {
  readonly keyId: string
  readonly scopes: ReadonlySet<Scope>
  /** As the operator set them for the account; 0 where it has what the deployment gives every account. */
  readonly requestsPerMinute: number
  readonly keyRequestsPerMinute: number
}

export interface Check {
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
  readonly answer: (check: Check | undefined) => void
  readonly fail: (error: unknown) => void
}

interface CheckRow {
  readonly history: string
  /** `n key_id scope+scope rate key_rate version total` for each question that found its key, separated by commas. */
  readonly found: string | null
}

/** No account has it: a key offered on an unknown host is looked up like any other, and takes as long. */
const nobody = '0'

/**
 * Tells who is asking and what state their data are in. There is one "no": which part was wrong is not said.
 *
 * The questions of all requests that wait in one turn of the event loop are one statement. It is sent after they
 * arrived, so a key revoked or a record written before that is seen by it, whichever process did it.
 */
export class Checks {
  readonly #store: Store
  readonly #tell: Tell
  /** Names are never given to another account, so an id once found holds. Unknown names are not kept. */
  readonly #ids = new LRUCache<string, string>({ max: limits.accountNamesKept })
  #waiting: Question[] = []
  #scheduled = false
  /** Statements under way, and the questions in them. */
  #underWay = 0
  #asked = 0

  constructor(store: Store, tell: Tell) {
    this.#store = store
    this.#tell = tell
  }

  /** Requests that have no answer yet, in a statement or before it. */
  get waiting(): number {
    return this.#waiting.length + this.#asked
  }

  /** When the first of those that are in no statement yet came, by `performance.now()`. */
  get waitingSince(): number {
    return this.#waiting[0]?.since ?? Number.POSITIVE_INFINITY
  }

  /** Every request comes through here: no promise around that of the answer, but for a name not met before. */
  check(
    accountName: string | undefined,
    key: string,
    resource: ResourceName | undefined,
  ): Promise<Check | undefined> {
    const hash = hashOfKey(key)
    if (hash === undefined) return Promise.resolve(undefined)
    const accountId = this.#ids.get(accountName ?? '')
    if (accountId !== undefined) return this.#answerTo(accountId, hash, resource)
    return this.#find(accountName).then((found = nobody) => this.#answerTo(found, hash, resource))
  }

  #answerTo(accountId: string, hash: string, resource: ResourceName | undefined): Promise<Check | undefined> {
    if (this.waiting >= limits.checksWaitingMax) return Promise.reject(overloaded())
    return new Promise((answer, fail) => {
      this.#waiting.push({ accountId, hash, resource, since: performance.now(), answer, fail })
      this.#schedule()
    })
  }

  async #find(name: string | undefined): Promise<string | undefined> {
    if (name === undefined) return undefined
    const [row] = await this.#store.read<{ account_id: string }>(account([name]))
    if (row !== undefined) this.#ids.set(name, row.account_id)
    return row?.account_id
  }

  /** While statements are under way, questions gather: the busier the process, the more of them share one. */
  #schedule(): void {
    if (this.#scheduled || this.#underWay >= limits.checksAtOnce || this.#waiting.length === 0) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      const questions = this.#waiting.splice(0, limits.checkQuestionsMax)
      this.#underWay++
      this.#asked += questions.length
      this.#tell({ kind: 'checks-sent', questions: questions.length })
      void this.#ask(questions).finally(() => {
        this.#underWay--
        this.#asked -= questions.length
        this.#schedule()
      })
    })
  }

  async #ask(questions: readonly Question[]): Promise<void> {
    try {
      const [row] = await this.#store.read<CheckRow>(checkStatement(questions))
      const checks = row === undefined ? [] : checksOf(row, questions)
      for (const [i, question] of questions.entries()) question.answer(checks[i])
    } catch (error) {
      for (const question of questions) question.fail(error)
    }
  }
}

function checksOf(
  { history: current, found }: CheckRow,
  questions: readonly Question[],
): (Check | undefined)[] {
  const checks: (Check | undefined)[] = questions.map(() => undefined)
  if (found === null) return checks
  for (const entry of found.split(',')) {
    const [n = '', keyId = '', granted = '', rate, keyRate, version, total] = entry.split(' ')
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
          : { history: current, version, total: Number(total) },
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

const accountName = hole()
const account = sql`select account_id from account where name = ${accountName}::text`.template(
  [accountName],
  'account',
  'quick',
)

const accounts = hole()
const hashes = hole()
const asked = hole()

/**
 * The one statement that names several accounts. `account_id = any($1)` beside the joins lets a distributed database
 * send it only to the shards that hold those accounts.
 */
const check = sql`select ${history} as history, string_agg(
  concat_ws(' ', q.n, k.key_id, array_to_string(k.scopes, '+'), coalesce(a.requests_per_minute, 0),
    coalesce(a.key_requests_per_minute, 0), t.version, t.total), ',') as found
from unnest(${accounts}::bigint[], ${hashes}::text[], ${asked}::text[]) with ordinality q(account_id, hash, resource, n)
join api_key k on k.account_id = q.account_id and k.hash = decode(q.hash, 'hex')
join account a on a.account_id = q.account_id
left join tally t on t.account_id = q.account_id and t.resource = q.resource
where k.account_id = any(${accounts}::bigint[]) and k.revoked_at is null
  and (k.expires_at is null or k.expires_at > now()) and a.status = 'active'`.template(
  [accounts, hashes, asked],
  'check',
  'quick',
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
