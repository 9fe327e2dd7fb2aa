import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Check, Context } from '../../../verification/src/check.ts'
import { Client } from '../../../verification/src/client.ts'
import { Service } from '../../../verification/src/service.ts'
import { type Caller, encoded, fillAccounts, ms, products } from './fixture.ts'
import { answered, type Load, others, runLoad } from './load.ts'

const records = 45_000
const smallAccounts = 20
const requests = 12
const deadlineMs = 2_000
const overdueMsMax = { full: 2_000, quick: 3_000 }
/** As docs/operating.md advises: an account leaves the others a processor of the database. */
const environment = {
  ACCOUNT_READS_MAX: String(Math.max(1, availableParallelism() - 1)),
  READ_MS_MAX: String(deadlineMs),
}

/**
 * Filters whose plans PostgreSQL would compile for longer than their deadline, which it does not look at meanwhile. With
 * JIT as PostgreSQL has it by default, one of them takes 6 to 42 s on this account; without, one second.
 */
export const jitStorm: Check = {
  name: 'jit_storm',
  bound: 'gone 2 s after deadline, p99 ≤ 3 × calm (quick: 3 s, 30 ×)',
  async run(context) {
    const service = await Service.start({ max_connections: '200', autovacuum: 'off' })
    const database = new pg.Client(service.postgres.url)
    try {
      await database.connect()
      const [large, ...small] = await fillAccounts(service, records, smallAccounts + 1)
      if (large === undefined) throw new Error('no accounts were made')
      const jit = await jitOf(database)
      const { port } = await service.serve(environment)
      const seconds = context.size(40, 10)
      const calm: Load = { ...calmLoad(small, port), seconds }
      await runLoad({ ...calm, seconds: 3 })
      const alone = answered(await runLoad({ ...calm, start: 10_000 }), 200)

      const watch = new Backends(database)
      const storm = stormOn(context, port, large)
      const besideResult = await runLoad({ ...calm, start: 20_000 })
      const statuses = await storm
      const oldest = await watch.end()

      const beside = answered(besideResult, 200)
      const [ratio, errors] = [beside.p99Ms / alone.p99Ms, others(besideResult, 200)]
      const overdueMs = Math.max(0, oldest.ageMs - deadlineMs)
      return {
        value: `${(overdueMs / 1000).toFixed(1)} s overdue, ${ratio.toFixed(2)} × (${ms(alone.p99Ms)} → ${ms(beside.p99Ms)})`,
        ok:
          jit === 'on' &&
          oldest.seen > 0 &&
          overdueMs <= context.size(overdueMsMax.full, overdueMsMax.quick) &&
          ratio <= context.size(3, 30) &&
          errors === '',
        note: [
          `${requests} requests: ${statuses.join(', ')}; up to ${oldest.atOnce} backends at once, the oldest statement ${(oldest.ageMs / 1000).toFixed(1)} s`,
          `PostgreSQL's jit is ${jit}; medians of the others ${ms(alone.p50Ms)} → ${ms(beside.p50Ms)}`,
          ...(errors === '' ? [] : [`others got ${errors}`]),
        ].join('\n'),
      }
    } finally {
      await database.end()
      await service.stop()
    }
  },
}

/** `on` where connections that ask for nothing else compile what is dear enough, and can. */
async function jitOf(database: pg.Client): Promise<string> {
  const { rows } = await database.query<{ jit: string }>(
    `select case when pg_jit_available() then current_setting('jit') || case current_setting('jit_above_cost')
       when '100000' then '' else ' above another cost' end else 'not there' end as jit`,
  )
  return rows[0]?.jit ?? 'not known'
}

/** All at once; one that is refused because others of the account run comes again, until it was judged. */
async function stormOn(context: Context, port: number, { host, key }: Caller): Promise<number[]> {
  const client = new Client(requests)
  const until = performance.now() + context.size(90, 30) * 1000
  const ask = async (n: number): Promise<number> => {
    for (;;) {
      const headers = ['Host', host, 'Authorization', `Bearer ${key}`]
      const { status } = await client.ask({ port, path: dear(n), headers })
      if (status !== 429 || performance.now() > until) return status
      await sleep(200)
    }
  }
  try {
    return await Promise.all(Array.from({ length: requests }, (_, n) => ask(n)))
  } finally {
    client.close()
  }
}

/** 62 times `categ_id![…]`, of 16 values each. None of the requests is like another, so that each is read. */
function dear(n: number): string {
  const excluded = (condition: number) =>
    Array.from({ length: 16 }, (_, value) => 1000 * (n + 1) + 16 * condition + value).join(',')
  const filter = Array.from({ length: 62 }, (_, condition) => `categ_id![${excluded(condition)}]`).join('&')
  return `${products}?fields=id&filter=${encoded(filter)}`
}

/** Lists, records and filters on accounts of 100 products, none of them asked before. */
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
  /** Of a statement that was still running. */
  readonly ageMs: number
  readonly atOnce: number
  readonly seen: number
}

/** Looks at what the serving connections run, from now on until nothing of the storm is left. */
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
