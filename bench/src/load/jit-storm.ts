import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Check, Context } from '../../../verification/src/check.ts'
import { Client } from '../../../verification/src/client.ts'
import { Service } from '../../../verification/src/service.ts'
import { type Caller, encoded, fillAccounts, ms, products } from './fixture.ts'
import { type Load, otherStatuses, runLoad, withStatus } from './load.ts'

const records = 45_000
const smallAccounts = 20
const requests = 12
const deadlineMs = 2_000
const overdueMsMax = { full: 2_000, quick: 3_000 }
/** Recommended by docs/operating/configure.md: one account leaves one CPU of the database to the others. */
const environment = {
  QUARTERMASTER_ACCOUNT_READS_MAX: String(Math.max(1, availableParallelism() - 1)),
  QUARTERMASTER_READ_MS_MAX: String(deadlineMs),
}

/**
 * Filters that PostgreSQL's JIT compiles for longer than their deadline. PostgreSQL does not handle a cancel request while it
 * compiles. With the default JIT settings one filter takes 6 to 42 s on this account, without JIT one second.
 */
export const jitStorm: Check = {
  name: 'jit_storm',
  bound: 'ended 2 s after deadline, p99 ≤ 3 × calm (quick: 3 s, 30 ×)',
  async run(context) {
    const service = await Service.start({ max_connections: '200', autovacuum: 'off' })
    const database = new pg.Client(service.postgres.url)
    try {
      await database.connect()
      const [large, ...small] = await fillAccounts(service, records, smallAccounts + 1)
      if (large === undefined) throw new Error('no accounts were created')
      const jit = await jitOf(database)
      const { port } = await service.serve(environment)
      const seconds = context.size(40, 10)
      const calm: Load = { ...calmLoad(small, port), seconds }
      await runLoad({ ...calm, seconds: 3 })
      const unloaded = withStatus(await runLoad({ ...calm, start: 10_000 }), 200)

      const watch = new Backends(database)
      const storm = stormOn(context, port, large)
      const loadedResult = await runLoad({ ...calm, start: 20_000 })
      const statuses = await storm
      const oldest = await watch.end()

      const loaded = withStatus(loadedResult, 200)
      const [ratio, errors] = [loaded.p99Ms / unloaded.p99Ms, otherStatuses(loadedResult, 200)]
      const overdueMs = Math.max(0, oldest.ageMs - deadlineMs)
      return {
        value: `${(overdueMs / 1000).toFixed(1)} s overdue, ${ratio.toFixed(2)} × (${ms(unloaded.p99Ms)} → ${ms(loaded.p99Ms)})`,
        samples: Math.min(unloaded.count, loaded.count, oldest.seen),
        ok:
          jit === 'on' &&
          oldest.seen > 0 &&
          overdueMs <= context.size(overdueMsMax.full, overdueMsMax.quick) &&
          ratio <= context.size(3, 30) &&
          errors === '',
        note: [
          `${requests} requests: ${statuses.join(', ')}; up to ${oldest.atOnce} backends at once, the oldest statement ${(oldest.ageMs / 1000).toFixed(1)} s`,
          `PostgreSQL's jit is ${jit}; medians of the other accounts ${ms(unloaded.p50Ms)} → ${ms(loaded.p50Ms)}`,
          ...(errors === '' ? [] : [`other accounts got ${errors}`]),
        ].join('\n'),
      }
    } finally {
      await database.end()
      await service.stop()
    }
  },
}

/** `on` if JIT is available and enabled by default with the default cost threshold. */
async function jitOf(database: pg.Client): Promise<string> {
  const { rows } = await database.query<{ jit: string }>(
    `select case when pg_jit_available() then current_setting('jit') || case current_setting('jit_above_cost')
       when '100000' then '' else ' above another cost' end else 'not available' end as jit`,
  )
  return rows[0]?.jit ?? 'unknown'
}

/** Sends all requests at once, and retries those that are rejected with 429 because of the others. */
async function stormOn(context: Context, port: number, { host, key }: Caller): Promise<number[]> {
  const client = new Client(requests)
  const until = performance.now() + context.size(90, 30) * 1000
  const send = async (n: number): Promise<number> => {
    for (;;) {
      const headers = ['Host', host, 'Authorization', `Bearer ${key}`]
      const { status } = await client.send({ port, path: expensivePath(n), headers })
      if (status !== 429 || performance.now() > until) return status
      await sleep(200)
    }
  }
  try {
    return await Promise.all(Array.from({ length: requests }, (_, n) => send(n)))
  } finally {
    client.close()
  }
}

/** 62 conditions `categ_id![…]` with 16 values each. Every request is different, so that none is cached. */
function expensivePath(n: number): string {
  const excluded = (condition: number) =>
    Array.from({ length: 16 }, (_, value) => 1000 * (n + 1) + 16 * condition + value).join(',')
  const filter = Array.from({ length: 62 }, (_, condition) => `categ_id![${excluded(condition)}]`).join('&')
  return `${products}?fields=id&filter=${encoded(filter)}`
}

/** Lists, records and new filters on accounts of 100 products. */
function calmLoad(small: readonly Caller[], port: number): Load {
  const paths = [
    `${products}?limit=20`,
    `${products}?fields=id,name&filter=${encoded('list_price<{n}')}`,
    `${products}/7`,
  ]
  const calls = small.flatMap((caller) => paths.map((path) => ({ ...caller, path })))
  return { ports: [port], rate: 20, seconds: 1, connectionsMax: 32, requests: calls }
}

interface Oldest {
  /** The age of the oldest statement seen running. */
  readonly ageMs: number
  readonly atOnce: number
  readonly seen: number
}

/** Polls the running statements of the server until `end` was called and none of the storm is left. */
class Backends {
  readonly #database: pg.Client
  #isEnding = false
  #oldest: Oldest = { ageMs: 0, atOnce: 0, seen: 0 }
  readonly #watching: Promise<void>

  constructor(database: pg.Client) {
    this.#database = database
    this.#watching = this.#watch()
  }

  async end(): Promise<Oldest> {
    this.#isEnding = true
    await this.#watching
    return this.#oldest
  }

  async #watch(): Promise<void> {
    for (;;) {
      const isEnding = this.#isEnding
      const { rows } = await this.#database.query<{ age_ms: number }>(
        `select (extract(epoch from clock_timestamp() - query_start) * 1000)::float8 as age_ms
         from pg_stat_activity where application_name = 'quartermaster' and state = 'active'
           and query like '%from product%' and length(query) > 900`,
      )
      this.#oldest = {
        ageMs: Math.max(this.#oldest.ageMs, ...rows.map((row) => row.age_ms)),
        atOnce: Math.max(this.#oldest.atOnce, rows.length),
        seen: this.#oldest.seen + rows.length,
      }
      if (isEnding && rows.length === 0) return
      await sleep(50)
    }
  }
}
