import pg from 'pg'
import { Quartermaster } from '../../../client/src/index.ts'
import { TemporaryRedis } from '../../../server/test/redis.ts'
import type { Check, Context } from '../check.ts'
import { inParallel } from '../parallel.ts'
import { fill } from '../plans/data.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { type ServerProcess, Service } from '../service.ts'
import { FaultyProxy } from './faulty-proxy.ts'

const account = 'account-1'

interface Setup {
  readonly qm: Quartermaster
  readonly owner: pg.Client
  readonly restarts: Restarts
}

/** Reads all records with the client while server and Redis are killed, connections are closed and responses are 503. */
export const syncUnderFire: Check = {
  name: 'sync_under_fire',
  bound: 'every record once',
  run: (context) => underFire(context, readAll),
}

export const createsUnderFire: Check = {
  name: 'creates_under_fire',
  bound: 'every partner once',
  run: (context) => underFire(context, createAll),
}

async function underFire(context: Context, work: (context: Context, setup: Setup) => Promise<Found>) {
  const service = await Service.start()
  const owner = new pg.Client(service.postgres.url)
  await owner.connect()
  const redis = await TemporaryRedis.start()
  let proxy: FaultyProxy | undefined
  try {
    await fill(owner, 'varied', work === readAll ? context.size(1_000_000, 20_000) : 1, 2)
    const key = await service.key(account)
    const server = await service.serve({ QUARTERMASTER_DEFAULT_ACCOUNT: account, REDIS_URL: redis.url })
    proxy = new FaultyProxy(server.port, new Random(context.seed, 62))
    const qm = new Quartermaster({ baseUrl: await proxy.listen(), apiKey: key })
    const restarts = new Restarts(server, redis, proxy, context.size(10, 3))
    const setup: Setup = { qm, owner, restarts }
    const { done, wrong } = await work(context, setup)
    const times = await restarts.settled()
    const { requests, unavailable, closed } = proxy
    const faults = `${times} restarts of server and Redis, ${grouped(requests)} requests, ${grouped(unavailable)} responses with 503, ${grouped(closed)} connections closed`
    return {
      value: `${wrong.length} wrong of ${grouped(done)}`,
      samples: Math.min(done, unavailable, closed),
      ok: wrong.length === 0 && times === context.size(10, 3) && unavailable > 0 && closed > 0,
      note: [faults, ...wrong.slice(0, 10)].join('\n'),
    }
  } finally {
    proxy?.stop()
    await owner.end()
    await redis.stop()
    await service.stop()
  }
}

interface Found {
  readonly done: number
  readonly wrong: readonly string[]
}

/**
 * Closes every connection, kills Redis and the server, and restarts them, `times` times, evenly spread over the work. The
 * server starts without Redis and connects to it later.
 */
class Restarts {
  readonly #server: ServerProcess
  readonly #redis: TemporaryRedis
  readonly #proxy: FaultyProxy
  readonly #times: number
  #started = 0
  #last: Promise<void> = Promise.resolve()

  constructor(server: ServerProcess, redis: TemporaryRedis, proxy: FaultyProxy, times: number) {
    this.#server = server
    this.#redis = redis
    this.#proxy = proxy
    this.#times = times
  }

  restartIfDue(done: number, of: number): void {
    if (this.#started >= this.#times || done < ((this.#started + 1) * of) / (this.#times + 1)) return
    this.#started += 1
    this.#last = this.#restartAfter(this.#last)
    // Prevents an unhandled rejection; settled() throws the error.
    this.#last.catch(() => undefined)
  }

  async settled(): Promise<number> {
    await this.#last
    return this.#started
  }

  async #restartAfter(last: Promise<void>): Promise<void> {
    await last
    this.#proxy.closeAll()
    await this.#redis.kill()
    await this.#server.kill()
    await this.#server.start()
    await this.#redis.start()
  }
}

/** After every 4 % of the records, deletes 11 that were already read: this shifts page numbers, but no record may be missed. */
async function readAll(context: Context, { qm, owner, restarts }: Setup): Promise<Found> {
  const { total } = (await qm.products.list({ limit: 1 })).meta
  const times = new Uint8Array(total + 1)
  const progress = context.progress('records', total)
  let done = 0
  let [before, deleted] = [0, 0]
  for await (const { id } of qm.products.all({ fields: ['id', 'name'], limit: context.size(1_000, 100) })) {
    times[id] = (times[id] ?? 0) + 1
    done += 1
    progress.step()
    restarts.restartIfDue(done, total)
    if (done - before < total / 25) continue
    before = done
    deleted += await deleteProducts(owner, id - 50, id - 40)
  }
  progress.end()
  context.log(`${deleted} already read records deleted`)
  const wrong = Array.from(times.entries()).filter(([id, count]) => id > 0 && count !== 1)
  return { done, wrong: wrong.map(([id, count]) => `record ${id}: ${count} times`) }
}

/** Deletes the records and updates their tally in one statement, as every write does. */
async function deleteProducts(owner: pg.Client, from: number, to: number): Promise<number> {
  const { rows } = await owner.query<{ count: number }>(
    `with deleted as (delete from product where account_id = 1 and id between $1 and $2 returning 1),
       counted as (select count(*)::int as count from deleted)
     update tally set version = version + 1, total = total - (select count from counted)
     where account_id = 1 and resource = 'product' returning (select count from counted)`,
    [from, to],
  )
  return rows[0]?.count ?? 0
}

async function createAll(context: Context, { qm, restarts }: Setup): Promise<Found> {
  const count = context.size(10_000, 300)
  const ids = new Map<string, number>()
  const progress = context.progress('creates', count)
  await inParallel(count, 16, async (index) => {
    const name = `Partner ${index}`
    ids.set(name, (await qm.partners.create({ name })).id)
    progress.step()
    restarts.restartIfDue(ids.size, count)
  })
  progress.end()
  await restarts.settled()
  const wrong: string[] = []
  for await (const { id, name } of qm.partners.all({ fields: ['id', 'name'] })) {
    if (ids.get(name) !== id) wrong.push(`${name} is stored as ${id}, but ${ids.get(name)} was acknowledged`)
    ids.delete(name)
  }
  return { done: count, wrong: [...wrong, ...ids.keys().map((name) => `${name} is missing`)] }
}
