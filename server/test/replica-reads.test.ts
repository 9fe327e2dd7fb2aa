import { describe, expect, it } from 'vitest'
import { documented } from '../../architecture/documented.ts'
import { PostgresNodes } from '../../verification/src/replication/postgres-nodes.ts'
import { freePort } from '../src/cli/database/temporary-postgres.ts'
import { limits } from '../src/limits/limits.ts'
import { defaultLimits } from '../src/limits/passed-limits.ts'
import { withClient } from '../src/postgres/client.ts'
import type { Connection } from '../src/postgres/connection.ts'
import { Database } from '../src/postgres/database.ts'
import { migrate } from '../src/postgres/migrations/migrate.ts'
import { Replicas } from '../src/postgres/replicas/replicas.ts'
import { sql, value } from '../src/sql.ts'
import { stateColumns, type Tally, type TallyState, writerColumn } from '../src/tally-state.ts'
import { stopAtEnd } from './at-end.ts'
import { withProducts, write } from './changes-fixture.ts'
import { quartermaster } from './command.ts'
import { account } from './database.ts'
import { eventually, passes } from './eventually.ts'
import { hasPgbouncer, TemporaryPgbouncer } from './pgbouncer.ts'
import { startTestService, type TestService } from './service.ts'

/** Long reads on a streaming replica: which server answers, and that the answer is that of the primary. */

const products = '/api/v1/inventory/product'
/** In an account above `smallAccountRecordsMax`, a filter is a long read. */
const records = limits.smallAccountRecordsMax + 100
const role = { QUARTERMASTER_DATABASE_ROLE: 'quartermaster_server' }

const nodes = stopAtEnd(new PostgresNodes())
const primary = await nodes.initialise('primary')
const replica = await nodes.copyAsStandby(primary, 'replica')
/** Follows the first primary even after another server was promoted. */
const stray = await nodes.copyAsStandby(primary, 'stray')
await primary.start()
await replica.start({ hot_standby_feedback: 'on' })
await stray.start()
const primaryUrl = primary.url('postgres')
await migrate(primaryUrl)
const acme = await withClient(primaryUrl, async (client) =>
  withProducts(client, await account(client, 'acme'), records),
)
await replica.caughtUpWith(primary)
const service = await startTestService(primaryUrl, {
  ...role,
  DATABASE_REPLICA_URLS: replica.url('postgres'),
})
const withoutReplicas = await startTestService(primaryUrl, role)
await isUsed(service)

async function isUsed({ events }: TestService): Promise<void> {
  await eventually(() => events.some(({ kind }) => kind === 'replica-available'))
}

let filters = 0
/** A filter that no cache has seen. All products match. */
const newFilter = () => `${products}?limit=2&filter=${encodeURIComponent(`name!=x${++filters}`)}`

interface Answer {
  readonly servedBy: string
  readonly body: string
  readonly etag: string | null
}

/** The response to a list, and which server ran it, with the reason. */
async function list(from = service, path = newFilter(), of = acme): Promise<Answer> {
  const before = from.events.length
  const { status, headers, body } = await from.request(of, 'GET', path)
  expect({ status, body }).toMatchObject({ status: 200 })
  return {
    servedBy: servedBy(from, before),
    body: JSON.stringify(body),
    etag: headers.get('etag'),
  }
}

function servedBy({ events }: TestService, since: number): string {
  const reads = events.slice(since).filter((event) => event.kind === 'replica-read')
  return reads.map(({ server, reason }) => `${server} ${reason}`).join(', ')
}

const onPrimary = <T>(work: (client: Connection) => Promise<T>) => withClient(primary.url('postgres'), work)

const rename = (name: string) => onPrimary((client) => write(client, acme, { upsert: { 1: name } }))

const onReplica = (text: string) =>
  withClient(replica.url('postgres'), async (client) => void (await client.query(text)))

describe('a list', () => {
  it('is read from the replica, with the response and the ETag of the primary', async () => {
    const path = newFilter()
    const answer = await list(service, path)
    expect(answer.servedBy).toBe('replica none')
    expect(await list(withoutReplicas, path)).toEqual({ ...answer, servedBy: '' })
    const headers = { 'if-none-match': answer.etag ?? '' }
    expect((await withoutReplicas.request(acme, 'GET', path, { headers })).status).toBe(304)
  })

  it('has the ETags of its records, as on the primary', async () => {
    const path = `${newFilter()}&fields=id,etag`
    const answer = await list(service, path)
    expect([answer.servedBy, answer.body]).toEqual(['replica none', (await list(withoutReplicas, path)).body])
    const record = await withoutReplicas.request(acme, 'GET', `${products}/1`)
    expect(JSON.parse(answer.body).data[0]).toEqual({ id: 1, etag: record.headers.get('etag') })
  })

  it('is cached, and its total carried across a write, as if the primary had read it', async () => {
    const path = newFilter()
    await list(service, path)
    expect((await list(service, path)).servedBy).toBe('')
    await rename('renamed')
    await replica.caughtUpWith(primary)
    const { servedBy: by, body } = await list(service, path)
    expect([by, body]).toEqual(['replica none', (await list(withoutReplicas, path)).body])
  })

  it('is read from the primary while the replica lacks a write, and again from the replica later', async () => {
    await onReplica('select pg_wal_replay_pause()')
    await rename('not replayed')
    const { servedBy: by, body } = await list()
    expect(by).toBe('primary behind')
    expect(body).toContain('not replayed')
    await onReplica('select pg_wal_replay_resume()')
    await replica.caughtUpWith(primary)
    expect(await list()).toMatchObject({ servedBy: 'replica none', body })
  })

  it('does not show a write that the primary does not show yet', async () => {
    const before = await list()
    // The commit waits for a standby that does not exist, while the replica has already replayed it.
    await onPrimary(async (client) => {
      await client.query(`alter system set synchronous_standby_names = 'absent'`)
      await client.query('select pg_reload_conf()')
      await eventually(async () => {
        const { rows } = await client.query<{ names: string }>(
          `select current_setting('synchronous_standby_names') as names`,
        )
        return rows[0]?.names === 'absent'
      })
      const writing = rename('invisible')
      await eventually(() =>
        withClient(replica.url('postgres'), async (onStandby) => {
          const { rows } = await onStandby.query('select from product where name = $1', ['invisible'])
          return rows.length > 0
        }),
      )
      expect(await list()).toMatchObject({ servedBy: 'primary unconfirmed', body: before.body })
      await client.query('alter system reset synchronous_standby_names')
      await client.query('select pg_reload_conf()')
      await writing
    })
    expect(await list()).toMatchObject({ servedBy: 'replica none' })
  })

  it('is read from the primary after a write that was not made by the service', async () => {
    const text = 'update tally set version = version + 1 where account_id = $1'
    await onPrimary((client) => client.query(text, [acme.accountId]))
    await replica.caughtUpWith(primary)
    expect((await list()).servedBy).toBe('primary unproven')
    await rename('by the service')
    await replica.caughtUpWith(primary)
    expect((await list()).servedBy).toBe('replica none')
  })

  it('is read from the replica after a restart of the primary, before the next write', async () => {
    const { body } = await list()
    await primary.stop()
    await primary.start()
    await eventually(async () => (await service.request(acme, 'GET', newFilter())).status === 200)
    expect(await list()).toMatchObject({ servedBy: 'replica none', body })
  })
})

describe('an export', () => {
  const exported = async (from: TestService) => {
    const before = from.events.length
    const response = await fetch(`http://127.0.0.1:${from.port}${products}?fields=id,name`, {
      headers: {
        'x-forwarded-host': 'acme.localhost',
        authorization: `Bearer ${acme.key}`,
        accept: 'application/x-ndjson',
      },
    })
    const text = await response.text()
    const { headers } = response
    const names = ['etag', 'x-total-count', 'x-changes-cursor']
    return { servedBy: servedBy(from, before), text, headers: names.map((name) => headers.get(name)) }
  }

  it('runs on the replica, with the ETag and the cursor of the primary', async () => {
    const answer = await exported(service)
    expect(answer.servedBy).toBe('replica none')
    expect(await exported(withoutReplicas)).toEqual({ ...answer, servedBy: '' })
    expect(answer.text.split('\n')).toHaveLength(records + 2)
  })

  it('runs on the primary while the replica lacks a write', async () => {
    await onReplica('select pg_wal_replay_pause()')
    await rename('exported')
    const { servedBy: by, text } = await exported(service)
    expect(by).toBe('primary behind')
    expect(text).toContain('exported')
    await onReplica('select pg_wal_replay_resume()')
    await replica.caughtUpWith(primary)
  })

  it('runs on the primary if VACUUM there could cancel it on the replica', async () => {
    const other = await startTestService(primary.url('postgres'), {
      ...role,
      DATABASE_REPLICA_URLS: stray.url('postgres'),
    })
    await isUsed(other)
    await stray.caughtUpWith(primary)
    expect((await exported(other)).servedBy).toBe('primary no_feedback')
    expect((await list(other)).servedBy).toBe('replica none')
    await other.close()
  })

  it.runIf(hasPgbouncer)('and lists run on a replica behind PgBouncer', async () => {
    const url = replica.url('postgres')
    const pgbouncer = await TemporaryPgbouncer.start({ url, folder: replica.data }, ['postgres'])
    const environment = { ...role, DATABASE_REPLICA_URLS: pgbouncer.url(url) }
    // Statements are sent as PgBouncer needs them, also to the primary.
    const pooled = { ...environment, QUARTERMASTER_DATABASE_POOLER: 'transaction' }
    const through = await startTestService(primary.url('postgres'), pooled)
    await isUsed(through)
    for (let n = 0; n < 5; n++) expect((await list(through)).servedBy).toBe('replica none')
    const answer = await exported(through)
    expect(answer).toEqual({ ...(await exported(withoutReplicas)), servedBy: 'replica none' })
    await rename('pooled')
    await passes(async () => expect((await list(through)).servedBy).toBe('replica none'))
    const { stdout } = await quartermaster(['doctor'], { ...pooled, DATABASE_URL: primary.url('postgres') })
    expect(stdout).toContain(
      `127.0.0.1:${pgbouncer.port} is a replica of the primary: long reads and exports`,
    )
    await through.close()

    // PgBouncer rejects the settings of the connections.
    const without = await startTestService(primary.url('postgres'), environment)
    await eventually(() => without.events.some(({ kind }) => kind === 'replica-unavailable'))
    expect((await list(without)).servedBy).toMatch(/^primary /)
    const wrong = await quartermaster(['doctor'], { ...environment, DATABASE_URL: primary.url('postgres') })
    expect(wrong.stdout).toMatch(/^✗ .*pooler/m)
    await without.close()
    await pgbouncer.stop()
  })
})

describe('a replica that fails', () => {
  /** Runs a statement of one row that sleeps, as `Replicas` runs lists. */
  const start = () => {
    const events: string[] = []
    const emit = (event: { kind: string; reason?: string }) =>
      void (event.kind === 'replica-read' && events.push(String(event.reason)))
    const options = {
      role: 'quartermaster_server',
      emit,
      connectionsMax: 2,
      readMsMax: 60_000,
      limits: defaultLimits,
    }
    const database = new Database({ ...options, url: primary.url('postgres') })
    const replicas = new Replicas([replica.url('postgres')], { ...options, database })
    const tallyRow = sql`from tally t where account_id = ${value(acme.accountId)}::bigint and resource = 'product'`
    const read = (tally: Tally, signal?: AbortSignal) =>
      replicas.read<TallyState & { slept: string }>(
        sql`select ${stateColumns}, pg_sleep(60)::text as slept ${tallyRow}`.statement('list'),
        { accountId: acme.accountId, resource: 'product', tally },
        { signal },
      )
    const tallyNow = async (): Promise<Tally> => {
      const [row] = await database.read<
        Record<'epoch' | 'version' | 'xid' | 'writer' | 'total' | 'schema', string>
      >(sql`select ${stateColumns}, ${writerColumn} as writer, t.total, t.schema ${tallyRow}`.statement())
      if (row === undefined) throw new Error('no tally')
      return { ...row, total: Number(row.total), schema: Number(row.schema) }
    }
    const close = async () => {
      await replicas.close()
      await database.close()
    }
    return { events, replicas, read, tallyNow, close }
  }
  const isSleeping = () =>
    withClient(replica.url('postgres'), async (client) => {
      const { rows } = await client.query(`select from pg_stat_activity where wait_event = 'PgSleep'`)
      return rows.length > 0
    })

  it('is accepted with a later state than the verified one only if the primary shows it, too', async () => {
    const { replicas, tallyNow, close } = start()
    const verified = { accountId: acme.accountId, resource: 'product' }
    const tally = await tallyNow()
    await rename('later')
    const later = await tallyNow()
    const { epoch, version, xid, writer = null } = later
    expect(await replicas.accept({ version, xid, writer }, { ...verified, tally })).toEqual({
      epoch,
      version,
      xid,
    })
    const next = String(BigInt(version) + 1n)
    for (const [row, reason] of [
      [{ version, xid: '1', writer }, 'unconfirmed'],
      [{ version: next, xid, writer }, 'unconfirmed'],
      [{ version, xid, writer: '1' }, 'diverged'],
      [{ version, xid, writer: null }, 'unproven'],
    ] as const)
      expect(await replicas.accept(row, { ...verified, tally })).toBe(reason)
    const old = { version: tally.version, xid: tally.xid, writer }
    expect(await replicas.accept(old, { ...verified, tally: later })).toBe('behind')
    expect(await replicas.accept({ ...old, xid: '1' }, { ...verified, tally })).toBe('diverged')
    await close()
  })

  it('cancels the statement of a client that has disconnected', async () => {
    const { replicas, read, tallyNow, close } = start()
    await eventually(() => replicas.counts.available === 1)
    const abort = new AbortController()
    const reading = read(await tallyNow(), abort.signal)
    await eventually(isSleeping)
    abort.abort()
    await expect(reading).rejects.toMatchObject({ code: 'client_disconnected' })
    await eventually(async () => !(await isSleeping()))
    await close()
  })

  it('leaves a statement that conflicts with recovery to the primary', async () => {
    await onReplica(`alter system set max_standby_streaming_delay = 0`)
    await onReplica(`alter system set hot_standby_feedback = off`)
    await onReplica(`select pg_reload_conf()`)
    const { events, replicas, read, tallyNow, close } = start()
    await eventually(() => replicas.counts.available === 1)
    const reading = read(await tallyNow())
    await eventually(isSleeping)
    const vacuumed = setInterval(() => {
      void rename('dead').then(() => onPrimary((client) => client.query('vacuum tally')))
    }, 500)
    expect(await reading).toBeUndefined()
    clearInterval(vacuumed)
    expect(events).toEqual(['conflict'])
    await close()
  })

  it('is not used after it was killed, and used again after its start', async () => {
    const { events, replicas, read, tallyNow, close } = start()
    await eventually(() => replicas.counts.available === 1)
    const reading = read(await tallyNow())
    await eventually(isSleeping)
    await replica.kill()
    expect(await reading).toBeUndefined()
    expect(events).toEqual(['failed'])
    expect((await list()).servedBy).toMatch(/^primary (failed|unavailable)$/)
    expect(await read(await tallyNow())).toBeUndefined()
    expect(events.at(-1)).toBe('unavailable')
    await replica.start()
    await replica.caughtUpWith(primary)
    await eventually(async () => (await list()).servedBy === 'replica none')
    await close()
  })

  it('does not delay an answer for long if it does not respond, even to a statement that is running', async () => {
    const { events, replicas, read, tallyNow, close } = start()
    await eventually(() => replicas.counts.available === 1)
    const tally = await tallyNow()
    const reading = read(tally)
    await eventually(isSleeping)
    replica.pause()
    try {
      expect(await reading).toBeUndefined()
      expect(events).toEqual(['failed'])
      expect((await list()).servedBy).toMatch(/^primary (failed|unavailable)$/)
    } finally {
      replica.resume()
    }
    await eventually(async () => (await list()).servedBy === 'replica none')
    await close()
  })
})

it('doctor checks each replica, and the documented commands work', async () => {
  const block = documented('replica-urls')
  const [, example = ''] = /^export DATABASE_REPLICA_URLS=(\S+)\n$/.exec(block) ?? []
  const servers = [primary, replica].map(({ port }) => `127.0.0.1:${port}`).join(',')
  const urls = example
    .replace('quartermaster:choose-another@db1:5432,db2:5432', `postgres@${servers}`)
    .replace('/quartermaster', '/postgres')
  const replicaFindings = async (more = '') => {
    const { stdout } = await quartermaster(['doctor', '--json'], {
      DATABASE_URL: primary.url('postgres'),
      DATABASE_REPLICA_URLS: `${urls}${more}`,
    })
    const { findings }: { findings: { check: string; status: string; message: string }[] } =
      JSON.parse(stdout)
    return findings
      .filter(({ check }) => check === 'replicas')
      .map(({ status, message }) => `${status}: ${message}`)
  }
  await onReplica('alter system set hot_standby_feedback = off')
  await onReplica('select pg_reload_conf()')
  await eventually(async () => (await replicaFindings())[1]?.includes('Exports run on the primary') ?? false)
  for (const text of documented('replica-feedback').trim().split('\n')) await onReplica(text)
  await eventually(async () => !(await replicaFindings())[1]?.includes('Exports run on the primary'))
  await passes(async () => {
    const lag = await withClient(replica.url('postgres'), (client) => client.query(documented('replica-lag')))
    expect(lag.rows).toMatchObject([{ paused: false, not_replayed: '0 bytes', receiver: 'streaming' }])
  })
  const none = await freePort()
  expect(await replicaFindings(` postgres://postgres@127.0.0.1:${none}/postgres`)).toEqual([
    expect.stringMatching(/^ok: 127.0.0.1:\d+ is the primary at present/),
    expect.stringMatching(/^ok: .* long reads and exports can run there\.$/),
    expect.stringMatching(/^problem: .*:\d+/),
  ])
})

it('doctor says what the settings of replication mean', async () => {
  const findings = async () => {
    const { stdout } = await quartermaster(['doctor', '--json'], { DATABASE_URL: primary.url('postgres') })
    const all: { findings: { check: string; status: string; message: string; repair?: string }[] } =
      JSON.parse(stdout)
    return all.findings.filter(({ check }) => check === 'replication')
  }
  const configure = async (...settings: string[]) => {
    for (const text of [...settings.map((setting) => `alter system ${setting}`), 'select pg_reload_conf()'])
      await onPrimary((client) => client.query(text))
  }
  expect(await findings()).toEqual([
    expect.objectContaining({
      status: 'warning',
      message: expect.stringContaining('to 2 standbys is asynchronous'),
    }),
  ])
  await configure(`set synchronous_standby_names = '*'`, 'set synchronous_commit = local')
  await passes(async () => expect(await findings()).toHaveLength(2))
  const [wrong, right] = await findings()
  expect(wrong?.message).toBe('synchronous_commit is local: a failover can lose acknowledged writes.')
  expect(right).toMatchObject({ status: 'ok', message: expect.stringContaining('when a standby has them') })
  for (const text of wrong?.repair?.split(/(?<=;) /) ?? []) await onPrimary((client) => client.query(text))
  await passes(async () => expect(await findings()).toEqual([right]))
  await configure('reset synchronous_standby_names', 'reset synchronous_commit')
  await passes(async () => expect((await findings())[0]?.message).toContain('is asynchronous'))
})

it('a server that is the primary is not used as a replica', async () => {
  const other = await startTestService(primary.url('postgres'), {
    ...role,
    DATABASE_REPLICA_URLS: primary.url('postgres'),
  })
  await eventually(() => other.events.some(({ kind }) => kind === 'replica-unavailable'))
  expect((await list(other)).servedBy).toBe('primary unavailable')
  await other.close()
})

it('a replica that follows a former primary never answers with its data', async () => {
  await rename('before')
  await replica.caughtUpWith(primary)
  await stray.caughtUpWith(primary)
  const before = await list(withoutReplicas)
  await replica.promote()
  // Both primaries write the same version.
  const lost = await rename('lost')
  await stray.caughtUpWith(primary)
  const survivor = await withClient(replica.url('postgres'), (client) =>
    write(client, acme, { upsert: { 1: 'survivor' } }),
  )
  expect(lost).toBe(survivor)
  const other = await startTestService(replica.url('postgres'), {
    ...role,
    DATABASE_REPLICA_URLS: stray.url('postgres'),
  })
  await isUsed(other)
  const answer = await list(other)
  expect(answer.servedBy).toBe('primary diverged')
  expect(answer.body).toContain('survivor')
  expect(before.body).not.toContain('survivor')
  // A later version of the former primary is not one that the primary will show.
  await rename('lost as well')
  await stray.caughtUpWith(primary)
  expect(await list(other)).toMatchObject({ servedBy: 'primary unconfirmed', body: answer.body })
  await other.close()
})
