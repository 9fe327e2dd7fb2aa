import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../../server/src/limits/limits.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check } from '../../../verification/src/check.ts'
import { type ServerProcess, Service } from '../../../verification/src/service.ts'
import { fillAccounts } from '../load/fixture.ts'
import { growth } from './attacks/growth.ts'
import { AttackProcess } from './fixture.ts'

const dayMs = 24 * 60 * 60 * 1000
const megabyte = 1024 * 1024
const resourceCount = 3

/** The tables that an account can fill, and the limit on its rows. Looked up by name: a table whose quota does not exist has none. */
const quotas: Readonly<Record<string, readonly [limit: string, times?: number]>> = {
  product: ['recordsMax'],
  partner: ['recordsMax'],
  company: ['recordsMax'],
  product_before: ['imagesMax'],
  partner_before: ['imagesMax'],
  company_before: ['imagesMax'],
  tombstone: ['tombstonesMax', resourceCount],
  idempotency: ['idempotencyResultsMax'],
  audit: ['auditRowsMax'],
  api_key: ['keysStoredMax'],
  request: ['requestLogRowsMax'],
  usage: ['usageRowsMax'],
  webhook: ['webhooksMax'],
  delivery: ['deliveryLogRowsMax'],
}

interface Size {
  readonly rows: number
  readonly bytes: number
}

interface Sample {
  readonly atMs: number
  readonly databaseBytes: number
  readonly residentBytes: number
}

/**
 * One account stores as much as it can, at the default rate limits. What it stores in 24 hours is calculated from the rows of each
 * table per second, at most its quota, and the bytes of a row.
 */
export const growthBound: Check = {
  name: 'guard_growth',
  bound: '24 h bounded by quotas',
  async run(context) {
    const service = await Service.start()
    try {
      const [attacker] = await fillAccounts(service, 100, 1)
      if (attacker === undefined) throw new Error('no account was created')
      const server = await service.serve({
        QUARTERMASTER_REQUESTS_PER_MINUTE: String(limits.requestsPerMinute),
        QUARTERMASTER_KEY_REQUESTS_PER_MINUTE: String(limits.keyRequestsPerMinute),
        QUARTERMASTER_WEBHOOK_SECRET: '0123456789abcdef0123456789abcdef0123456789abcdef',
        QUARTERMASTER_WEBHOOK_NETWORKS: '127.0.0.0/8',
      })
      const { url } = service.postgres
      const before = await sizesOf(url)
      const running = await AttackProcess.prepare(growth, {
        port: server.port,
        processes: 1,
        databaseUrl: url,
        attacker,
        createOnly: attacker,
        grower: { accountId: '1', callers: [attacker] },
        isQuick: context.quick,
      })
      running.start()
      const samples = await observe(url, server, context.size(600_000, 20_000))
      await running.stop()
      await server.kill()
      // Rows that were replaced or deleted still take space, which autovacuum makes usable again. It does not grow with the day.
      const withDead = totalOf(await sizesOf(url))
      await withClient(url, (client) => client.query('vacuum full'))
      const after = await sizesOf(url)
      return outcome(before, after, withDead - totalOf(after), samples)
    } finally {
      await service.stop()
    }
  },
}

async function observe(url: string, server: ServerProcess, totalMs: number): Promise<readonly Sample[]> {
  const started = performance.now()
  const samples: Sample[] = []
  for (let n = 0; n <= 10; n++) {
    await sleep(Math.max(0, started + (totalMs / 10) * n - performance.now()))
    samples.push({
      atMs: performance.now() - started,
      databaseBytes: await databaseBytes(url),
      residentBytes: server.memory({ reset: false }).now,
    })
  }
  return samples
}

function outcome(
  before: ReadonlyMap<string, Size>,
  after: ReadonlyMap<string, Size>,
  deadBytes: number,
  samples: readonly Sample[],
) {
  const seconds = (samples.at(-1)?.atMs ?? 0) / 1000
  const tables = [...after].map(([table, size]) => estimate(table, before.get(table), size, seconds))
  const unbounded = tables.filter(({ isBounded }) => !isBounded)
  const dayBytes = tables.reduce((sum, { bytes }) => sum + bytes, deadBytes)
  const [middle, last] = [samples[5], samples.at(-1)]
  return {
    value: `${(dayBytes / megabyte / 1024).toFixed(1)} GB, ${mb(last?.residentBytes)} resident, ${unbounded.length} unbounded`,
    samples: tables.filter(({ grew }) => grew).length,
    ok: unbounded.length === 0,
    note: [
      ...tables.map(({ text }) => text),
      `dead rows at the end: ${mb(deadBytes)}`,
      `database after each tenth of ${seconds.toFixed(0)} s: ${samples.map((one) => mb(one.databaseBytes)).join(', ')}`,
      `resident memory at half time ${mb(middle?.residentBytes)}, at the end ${mb(last?.residentBytes)}`,
    ].join('\n'),
  }
}

/** What the table has after 24 hours at this speed. */
function estimate(table: string, before: Size = { rows: 0, bytes: 0 }, after: Size, seconds: number) {
  const rowsPerDay = ((after.rows - before.rows) / seconds) * (dayMs / 1000)
  const [limit, times = 1] = quotas[table] ?? ['none']
  const quota = (new Map(Object.entries(limits)).get(limit) ?? Number.POSITIVE_INFINITY) * times
  const isAtQuota = rowsPerDay > quota
  const grew = after.rows > before.rows
  const rows = Math.max(after.rows, Math.min(rowsPerDay, quota))
  const bytes = grew ? (after.bytes / Math.max(1, after.rows)) * rows : after.bytes
  const by = isAtQuota ? `bounded by ${limit} (${count(quota)})` : `below ${limit} (${count(quota)})`
  return {
    bytes,
    grew,
    isBounded: !grew || Number.isFinite(quota),
    text: `${table}: ${count(after.rows)} rows, ${mb(after.bytes)}; 24 h ${count(rows)} rows, ${mb(bytes)}, ${by}`,
  }
}

async function sizesOf(url: string): Promise<ReadonlyMap<string, Size>> {
  return await withClient(url, async (client) => {
    const found = new Map<string, Size>()
    const { rows: tables } = await client.query<{ name: string; bytes: string }>(
      `select c.relname as name, pg_total_relation_size(c.oid) as bytes
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id'
       where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname not in ('account', 'tally')
       order by 1`,
    )
    for (const { name, bytes } of tables) {
      const { rows } = await client.query<{ n: string }>(
        `select count(*) as n from ${client.escapeIdentifier(name)}`,
      )
      found.set(name, { rows: Number(rows[0]?.n), bytes: Number(bytes) })
    }
    return found
  })
}

async function databaseBytes(url: string): Promise<number> {
  return await withClient(url, async (client) => {
    const { rows } = await client.query<{ bytes: string }>(
      'select pg_database_size(current_database()) as bytes',
    )
    return Number(rows[0]?.bytes)
  })
}

function totalOf(sizes: ReadonlyMap<string, Size>): number {
  return [...sizes.values()].reduce((sum, { bytes }) => sum + bytes, 0)
}

const mb = (bytes = 0): string => `${(bytes / megabyte).toFixed(0)} MB`
const count = (n: number): string => (Number.isFinite(n) ? Math.round(n).toLocaleString('en-US') : 'none')
