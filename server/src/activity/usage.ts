import { randomBytes } from 'node:crypto'
import { limits } from '../limits/limits.ts'
import type { AuthenticatedRequest, RequestAccess } from '../observability/events.ts'
import { constant, type Statement, sql, value } from '../sql.ts'

/** The requests of one key on one route in one minute or day. */
interface Sum {
  readonly access: RequestAccess
  readonly per: 'minute' | 'day'
  readonly startMs: number
  readonly method: string
  readonly route: string
  requests: number
  errors: number
  /** Requests that are missing from the request log. */
  unlogged: number
  /** Latency buckets, and the requests of each. */
  readonly buckets: number[]
  readonly counts: number[]
}

interface AccountUsage {
  /** When the first sum was added, by `performance.now()`. */
  readonly since: number
  readonly keys: Map<string, Sum[]>
}

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/** Aggregates requests by key, route and minute until they are written: a busy process writes fewer rows for each request. */
export class Usage {
  /** Nested by account and key: two lookups cost less than to concatenate a key for every request. */
  readonly #accounts = new Map<string, AccountUsage>()
  #waiting = 0
  /** Unique to this process. */
  readonly #writer = randomBytes(6).toString('hex')
  #batches = 0
  readonly #flushMs: number

  constructor(flushMs: number) {
    this.#flushMs = flushMs
  }

  /** `first`: started a new sum for this key, route and minute. `full`: not counted, because the queue is full. */
  count(atMs: number, event: AuthenticatedRequest, logged: boolean): 'counted' | 'first' | 'full' {
    const { access, method, route } = event
    const startMs = atMs - (atMs % minuteMs)
    const found = this.#find(access, method, route, startMs)
    if (found !== undefined) {
      add(found, event, logged)
      return 'counted'
    }
    const sum = emptySum({ access, per: 'minute', startMs, method, route })
    add(sum, event, logged)
    return this.#insert(sum) ? 'first' : 'full'
  }

  get isEmpty(): boolean {
    return this.#waiting === 0
  }

  /** Removes and returns sums that are older than the flush interval, oldest accounts first. */
  take(before: number): readonly Sum[] {
    const taken: Sum[] = []
    for (const [accountId, { since, keys }] of this.#accounts) {
      if (since > before - this.#flushMs) break
      for (const [keyId, sums] of keys) {
        if (taken.length >= limits.activityWriteRows) break
        taken.push(...sums)
        keys.delete(keyId)
      }
      if (keys.size > 0) break
      this.#accounts.delete(accountId)
    }
    this.#waiting -= taken.length
    return taken
  }

  /** A globally unique id. */
  nextBatch(): string {
    return `${this.#writer}-${++this.#batches}`
  }

  /** Counts a request as missing from the log that was counted as logged before. */
  countUnlogged(atMs: number, { access, method, route }: AuthenticatedRequest): void {
    const startMs = atMs - (atMs % minuteMs)
    const found = this.#find(access, method, route, startMs)
    const sum = found ?? emptySum({ access, per: 'minute', startMs, method, route })
    sum.unlogged++
    if (found === undefined) this.#insert(sum)
  }

  #find(
    { accountId, keyId }: RequestAccess,
    method: string,
    route: string,
    startMs: number,
  ): Sum | undefined {
    const sums = this.#accounts.get(accountId)?.keys.get(keyId)
    return sums?.findLast((sum) => sum.route === route && sum.method === method && sum.startMs === startMs)
  }

  /** False if the queue is full. */
  #insert(sum: Sum): boolean {
    if (this.#waiting >= limits.usageWaitingRows) return false
    const { accountId, keyId } = sum.access
    let account = this.#accounts.get(accountId)
    if (account === undefined) {
      account = { since: performance.now(), keys: new Map() }
      this.#accounts.set(accountId, account)
    }
    const sums = account.keys.get(keyId)
    if (sums === undefined) account.keys.set(keyId, [sum])
    else sums.push(sum)
    this.#waiting++
    return true
  }
}

/** `{id}` instead of `:id`, as in the OpenAPI document. */
function routeName({ method, route }: Sum): string {
  return `${method} ${route.replaceAll(/:(\w+)/g, '{$1}')}`
}

function emptySum(of: Pick<Sum, 'access' | 'per' | 'startMs' | 'method' | 'route'>): Sum {
  return { ...of, requests: 0, errors: 0, unlogged: 0, buckets: [], counts: [] }
}

function add(sum: Sum, { status, ms }: AuthenticatedRequest, logged: boolean): void {
  sum.requests++
  if (status >= 400) sum.errors++
  if (!logged) sum.unlogged++
  addToBucket(sum, latencyBucket(ms), 1)
}

/** Most sums have one or two buckets: a Map would take more memory and time. */
function addToBucket({ buckets, counts }: Sum, bucket: number, count: number): void {
  const i = buckets.indexOf(bucket)
  if (i >= 0) counts[i] = (counts[i] ?? 0) + count
  else {
    buckets.push(bucket)
    counts.push(count)
  }
}

function merge(into: Sum, sum: Sum): void {
  into.requests += sum.requests
  into.errors += sum.errors
  into.unlogged += sum.unlogged
  for (const [i, bucket] of sum.buckets.entries()) addToBucket(into, bucket, sum.counts[i] ?? 0)
}

/**
 * Adds each sum to its minute and to its day. Rows are in the order of the primary key, so that two processes cannot
 * deadlock. Idempotent: each row stores the last batch of every process, and a process sends no newer batch before
 * the outcome of the last one is known.
 */
export function addUsageStatement(minutes: readonly Sum[], batch: string): Statement {
  const days = new Map<string, Sum>()
  for (const minute of minutes) {
    const { access, method, route } = minute
    const startMs = minute.startMs - (minute.startMs % dayMs)
    const id = `${access.accountId} ${access.keyId} ${startMs} ${method} ${route}`
    const day = days.get(id) ?? emptySum({ access, per: 'day', startMs, method, route })
    merge(day, minute)
    days.set(id, day)
  }
  const sums = [...minutes, ...days.values()].toSorted(byPrimaryKey)
  const numbers = (name: 'requests' | 'errors' | 'unlogged') => value(sums.map((sum) => sum[name]))
  const lists = (name: 'buckets' | 'counts') => value(sums.map((sum) => `{${sum[name].join(',')}}`))
  return {
    execution: 'generic',
    ...sql`insert into usage as u (account_id, per, at, key_id, route, requests, errors, unlogged, classes, counts,
  batches)
select account_id, per, at, key_id, route, requests, errors, unlogged, classes::smallint[], counts::bigint[],
  array[${value(batch)}::text]
from unnest(${value(sums.map(({ access }) => access.accountId))}::bigint[], ${value(sums.map(({ per }) => per))}::text[],
  ${value(sums.map(({ startMs }) => new Date(startMs).toISOString()))}::timestamptz[],
  ${value(sums.map(({ access }) => access.keyId))}::text[], ${value(sums.map(routeName))}::text[],
  ${numbers('requests')}::bigint[], ${numbers('errors')}::bigint[], ${numbers('unlogged')}::bigint[],
  ${lists('buckets')}::text[], ${lists('counts')}::text[])
  s(account_id, per, at, key_id, route, requests, errors, unlogged, classes, counts)
on conflict (account_id, per, at, key_id, route) do update
set requests = u.requests + excluded.requests, errors = u.errors + excluded.errors,
  unlogged = u.unlogged + excluded.unlogged,
  (classes, counts) = (
    select coalesce(array_agg(m.class order by m.class), '{}'), coalesce(array_agg(m.count order by m.class), '{}') from (
      select b.class, sum(b.count)::bigint as count from (
        select * from unnest(u.classes, u.counts) union all select * from unnest(excluded.classes, excluded.counts)
      ) b(class, count) group by b.class
    ) m
  ),
  batches = excluded.batches || array(
    select o.batch from unnest(u.batches) with ordinality o(batch, n)
    where split_part(o.batch, '-', 1) <> split_part(excluded.batches[1], '-', 1)
    order by o.n limit ${constant(limits.usageWritersMax - 1)}
  )
where not u.batches && excluded.batches`.statement('activity'),
  }
}

function byPrimaryKey(a: Sum, b: Sum): number {
  return (
    Number(a.access.accountId) - Number(b.access.accountId) ||
    compare(a.per, b.per) ||
    a.startMs - b.startMs ||
    compare(a.access.keyId, b.access.keyId) ||
    compare(a.method, b.method) ||
    compare(a.route, b.route)
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const logRatio = Math.log(limits.latencyBucketRatio)

/** Bucket 0 is below the first boundary. Bucket n is between boundaries n − 1 and n; each boundary is a tenth above the one before. */
export function latencyBucket(ms: number): number {
  if (ms < limits.latencyBucketFirstMs) return 0
  const bucket = Math.floor(Math.log(ms / limits.latencyBucketFirstMs) / logRatio) + 1
  return Math.min(bucket, limits.latencyBucketsMax)
}
