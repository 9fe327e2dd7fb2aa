import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { postgresBinaries } from '../../../server/src/cli/database/find-postgres.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Connection } from '../../../server/src/postgres/connection.ts'
import { fillAccount, rowsByTable } from '../../../server/test/account-rows.ts'
import type { Check, Context } from '../check.ts'
import { Client } from '../client.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'

const marker = 'mkleaving'
const others = 10
const othersProducts = 2_000
const exec = promisify(execFile)

/** The latency of other accounts' lists while a large account is deleted, and what is left of it after the deletion was killed again and again. */
export const accountDeleted: Check = {
  name: 'account_deleted',
  bound: '<= 1.5 x p99; 0 rows, 0 in a dump',
  needs: ['pg_dump'],
  async run(context) {
    const service = await Service.start({ max_wal_size: '4GB' })
    try {
      return await withClient(service.environment['DATABASE_URL'] ?? '', (client) =>
        measure(context, service, client),
      )
    } finally {
      await service.stop()
    }
  },
}

async function measure(context: Context, service: Service, client: Connection) {
  const records = context.size(10_000_000, 200_000)
  const killsMin = context.size(100, 5)
  const { port } = await service.serve()
  const keys: string[] = []
  for (let n = 0; n < others; n++) keys.push(await service.account(`other-${n}`))
  await service.account('leaving')
  await fill(context, client, records)
  const othersBefore = await othersRows(client)
  const load = new Load(port, keys, context.seed)
  await load.p99(5_000)
  const before = await load.p99(context.size(30_000, 10_000))

  const command = ['account', 'delete', 'leaving', '--now', '--yes', 'leaving']
  const left = async () => (await rowsOfLeaving(client))['product'] ?? 0
  const first = service.spawn(command)
  await untilDeleting(client)
  const during = await load.p99(context.size(30_000, 6_000))
  const isLarge = (await left()) > 0
  first.kill('SIGKILL')
  await once(first, 'exit')

  const random = new Random(context.seed, 91)
  let kills = 1
  const progress = context.progress('kills', killsMin)
  while (kills < killsMin && (await left()) > 0) {
    const child = service.spawn(command)
    await sleep(random.integer(300, 1_200))
    child.kill('SIGKILL')
    await once(child, 'exit')
    kills++
    progress.step()
  }
  progress.end()
  await client.query(`update account_deletion set requested_at = now() - interval '1 hour'`)
  await service.command(command)

  const rows = Object.values(await rowsOfLeaving(client)).reduce((sum, one) => sum + one, 0)
  const dump = await dumpHas(service)
  const { rows: counted } = await client.query<{ products: number }>(
    `select (counts ->> 'product')::float8 as products from account_deletion where name = 'leaving'`,
  )
  const isCounted = counted[0]?.products === records + 3
  const isOthersSame = JSON.stringify(await othersRows(client)) === JSON.stringify(othersBefore)
  const ratio = during / before
  return {
    value: `${ratio.toFixed(2)} x (${before.toFixed(1)} to ${during.toFixed(1)} ms); ${grouped(records)} records, ${kills} kills, ${rows} rows, ${dump} in a dump`,
    samples: kills,
    ok: ratio <= 1.5 && rows === 0 && dump === 0 && isCounted && isOthersSame && isLarge && load.errors === 0,
    note: `counted ${counted[0]?.products}, others the same: ${isOthersSame}, measured while deleting: ${isLarge}, errors: ${load.errors}`,
  }
}

async function fill(context: Context, client: Connection, records: number): Promise<void> {
  const insert = async (name: string, from: number, to: number) => {
    await client.query(
      `insert into product (account_id, id, version, name, list_price, qty_available, active, create_date, write_date)
       select account_id, g, 1, $2 || ' ' || g, g % 1000, 0, true, now(), now()
       from account, generate_series($3::int, $4::int) g where account.name = $1`,
      [name, name === 'leaving' ? marker : 'Bolt', from, to],
    )
  }
  for (let n = 0; n < others; n++) await insert(`other-${n}`, 1, othersProducts)
  const progress = context.progress('records', records)
  const step = 100_000
  for (let from = 1; from <= records; from += step) {
    await insert('leaving', from, Math.min(from + step - 1, records))
    progress.step(step)
  }
  progress.end()
  await client.query(
    `update tally t set version = 1, total = p.n, last_id = p.n
     from (select account_id, count(*) as n from product group by account_id) p
     where p.account_id = t.account_id and t.resource = 'product'`,
  )
  const { rows } = await client.query<{ id: string }>(
    `select account_id as id from account where name = 'leaving'`,
  )
  const id = rows[0]?.id ?? ''
  // Three more rows in every table; their ids follow those of the products.
  await client.query('update product set id = id + 1000000000 where account_id = $1 and id <= 3', [id])
  await fillAccount(client, id, marker, (table) => (table === 'tally' ? 0 : 3))
  await client.query('vacuum analyze')
}

async function rowsOfLeaving(client: Connection): Promise<Record<string, number>> {
  const { rows } = await client.query<{ id: string }>(
    `select coalesce((select account_id from account where name = 'leaving'), (select former_id from account_deletion)) as id`,
  )
  return await rowsByTable(client, rows[0]?.id ?? '')
}

async function othersRows(client: Connection): Promise<unknown> {
  const { rows } = await client.query(
    `select a.name, count(*)::int as products, sum(p.list_price)::text as prices
     from account a join product p using (account_id) where a.name like 'other-%' group by a.name order by a.name`,
  )
  return rows
}

async function untilDeleting(client: Connection): Promise<void> {
  for (;;) {
    const { rows } = await client.query(`select from account_deletion where counts ? 'product'`)
    if (rows.length > 0) return
    await sleep(50)
  }
}

/** How often the marker occurs in a dump of the whole database. */
async function dumpHas(service: Service): Promise<number> {
  const url = service.environment['DATABASE_URL'] ?? ''
  const { stdout } = await exec(
    'sh',
    ['-c', `"${join(postgresBinaries(), 'pg_dump')}" "$0" | grep -c ${marker} || true`, url],
    { maxBuffer: 2 ** 20 },
  )
  return Number(stdout)
}

/** Lists of other accounts at a constant rate, so that a slow response is not followed by fewer requests. */
class Load {
  readonly #port: number
  readonly #keys: readonly string[]
  readonly #random: Random
  readonly #client = new Client()
  errors = 0

  constructor(port: number, keys: readonly string[], seed: number) {
    this.#port = port
    this.#keys = keys
    this.#random = new Random(seed, 92)
  }

  /** Milliseconds. */
  async p99(ms: number): Promise<number> {
    const times: number[] = []
    const sent: Promise<void>[] = []
    const until = performance.now() + ms
    while (performance.now() < until) {
      sent.push(this.#send(times))
      await sleep(10)
    }
    await Promise.all(sent)
    return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.POSITIVE_INFINITY
  }

  async #send(times: number[]): Promise<void> {
    const n = this.#random.integer(0, this.#keys.length - 1)
    // A filter that no request had before, so that PostgreSQL answers.
    const filter = encodeURIComponent(
      `list_price>${this.#random.integer(0, 900)}&id>${this.#random.integer(1, 1900)}`,
    )
    const from = performance.now()
    const response = await this.#client.send({
      port: this.#port,
      path: `/api/v1/inventory/product?limit=20&filter=${filter}`,
      headers: ['host', `other-${n}.localhost`, 'authorization', `Bearer ${this.#keys[n]}`],
    })
    times.push(performance.now() - from)
    if (response.status !== 200) this.errors++
  }
}
