import pg from 'pg'
import { documented } from '../../../../architecture/documented.ts'
import { withClient } from '../../../../server/src/postgres/client.ts'
import { waitUntil } from '../../wait-until.ts'
import type { OperatorMachine } from './machine.ts'
import { expectOutput, type Shell } from './shell.ts'

/** Causes each incident of incidents.md that can be caused on one machine, and runs the blocks that confirm it. */

export async function notMigrated(machine: OperatorMachine): Promise<void> {
  await machine.sql(documented('database-roles').replace(/^[\s\S]*(?=create database)/, ''), 'postgres', {
    'database quartermaster ': 'database pending ',
  })
  const terminal = machine.shell.another()
  for (const name of ['DATABASE_URL', 'DATABASE_OWNER_URL'])
    terminal.set(name, terminal.variable(name).replace(/\/quartermaster$/, '/pending'))
  const ports = { ...machine.serveOnPort, '=9464': `=${machine.adminPort}` }
  const isUp = async () => (await machine.status('/livez')) === 200
  const work = async () => {
    const output = await terminal.run(documented('not-migrated'), machine.onAdminPort)
    expectOutput(output, /0001_accounts/, /^applied 0001_accounts$/m)
  }
  await machine.serving(terminal.another(), documented('serve-admin'), ports, work, isUp)
}

/** With two processes, Redis and metrics. */
export async function incidents(machine: OperatorMachine): Promise<void> {
  const { shell } = machine
  const terminal = shell.another()
  terminal.set('REDIS_URL', machine.redis.url)
  terminal.set('QUARTERMASTER_ADMIN_PORT', String(machine.adminPort))
  terminal.set('PORT', String(machine.port))
  // The only server is the primary, so no replica can be used.
  terminal.set('DATABASE_REPLICA_URLS', terminal.variable('DATABASE_URL'))
  await machine.serving(terminal.another(), 'quartermaster serve --processes 2', {}, async (log) => {
    terminal.set('LOG', log)
    await requestsFail(machine, terminal)
    await data(machine, terminal)
    await partsFail(machine, terminal)
  })
}

async function requestsFail(machine: OperatorMachine, terminal: Shell): Promise<void> {
  const { onAdminPort } = machine
  const rejected = await terminal.run(documented('rejected-key'))
  expectOutput(rejected, /^acme: active/m, / active .* first key$/m, /^QUARTERMASTER_DOMAIN +localhost/m)

  await terminal.run('quartermaster account limit acme --requests 1')
  await waitUntil(async () => (await machine.list(terminal.variable('KEY'))) === 429)
  const limited = await terminal.run(documented('too-many-requests'), onAdminPort)
  expectOutput(limited, /account_rate_exceeded.* [1-9]\d*$/m, /^requests per minute: 1;/m)
  await terminal.run('quartermaster account limit acme --requests default')
  await waitUntil(async () => (await machine.list(terminal.variable('KEY'))) === 200)

  await machine.sql('alter table product rename column name to other_name')
  await waitUntil(async () => (await machine.list(terminal.variable('KEY'), '?fields=name&limit=7')) === 500)
  await machine.sql('alter table product rename column other_name to name')
  await waitUntil(async () =>
    /"internal".*other_name|"internal".*column/.test(await terminal.diagnose(documented('internal-errors'))),
  )

  const overloaded = await terminal.run(documented('overloaded'), onAdminPort)
  expectOutput(overloaded, /^nodejs_eventloop_utilization_ratio\{.*\} [\d.e-]+$/m)
  expectOutput(overloaded, /^quartermaster_key_verification_waiting\{.*\} \d+$/m)
  expectOutput(overloaded, /^db_client_operation_duration_seconds_count\{.*verify_key.*\} [1-9]\d*$/m)
  // Usage is written some seconds after the responses.
  const busiest = /^ account +\| requests \| errors *\n.*\n acme +\| +[1-9]\d* \|/m
  await waitUntil(async () => busiest.test(await machine.sql(documented('busiest-accounts'))))
  const telemetry = await terminal.diagnose(documented('telemetry-missing'), onAdminPort)
  expectOutput(telemetry, /^quartermaster_log_dropped_total\{.*\} 0$/m, /^quartermaster_spans_dropped_total/m)
  const webhooks = await terminal.run(documented('webhooks-undelivered'), onAdminPort)
  expectOutput(webhooks, /^acme has no webhooks\.$/m, /^quartermaster_webhooks_sweeps_failed_total\b.* 0$/m)
  const replicas = await terminal.diagnose(documented('replicas-unused'), onAdminPort)
  expectOutput(replicas, /^quartermaster_replicas_available\{.*\} 0$/m, /is the primary at present/)
  await lockedTable(machine)
  expectOutput(await machine.sql(documented('dead-rows')), / n_dead_tup /, /\(5 rows\)/)
}

/** A session that waits for the lock of another one. */
async function lockedTable(machine: OperatorMachine): Promise<void> {
  const url = machine.postgres.url('quartermaster')
  await withClient(url, async (holder) => {
    await holder.query(`set application_name = 'holder'; begin; lock table usage`)
    const waiting = new pg.Client({ connectionString: url, application_name: 'waiting' })
    await waiting.connect()
    const lock = waiting.query('begin; lock table usage; rollback')
    await waitUntil(async () =>
      /^ +\d+ \| postgres \| holder +\| idle in transaction \|.*\| +1 \| begin; lock/m.test(
        (await machine.sql(documented('blocking-sessions'))).replace(/set application_name = 'holder'; /, ''),
      ),
    )
    expectOutput(await machine.sql(documented('long-statements')), /\| waiting +\| active +\| Lock/)
    await holder.query('rollback')
    await lock
    await waiting.end()
  })
}

async function data(machine: OperatorMachine, terminal: Shell): Promise<void> {
  expectOutput(await terminal.run(documented('wrong-import')), /^product +3 +\d+ +3 +external$/m)
  expectOutput(await terminal.run(documented('wrong-total')), /^No problems found\.$/m)

  const leaked = terminal.variable('KEY')
  const key = { qm_EXAMPLEexampleEXAMPLEexampleEX000000: leaked }
  const found = await machine.sql(documented('leaked-key'), 'quartermaster', key)
  expectOutput(found, /^ acme +\| \w+ +\| first key +\|/m)
  terminal.set('KEY_ID', /^ acme +\| (\w+)/m.exec(found)?.[1] ?? '')
  const rotated = await terminal.run(documented('leaked-key-revoke'))
  const [, next = ''] = /^(qm_\w+)$/m.exec(rotated) ?? []
  expectOutput(rotated, / active .* first key$/m, / revoked .* first key$/m)
  const statuses = [await machine.list(leaked), await machine.list(next)]
  if (statuses.join() !== '401,200') throw new Error(`The leaked and the new key get ${statuses.join()}.`)
  terminal.set('KEY', next)
}

async function partsFail(machine: OperatorMachine, terminal: Shell): Promise<void> {
  const { onAdminPort, redis, postgres } = machine
  expectOutput(
    await machine.sql(documented('connections')),
    /^ quartermaster +\| quartermaster +\| +\d+ \| 150/m,
  )
  expectOutput(
    await machine.sql(documented('disk-usage')),
    /^ database quartermaster +\| \d+ kB/m,
    /^ WAL +\| \d+ MB/m,
  )
  const disk = await terminal.run(documented('disk-space'), { '/var/lib/postgresql': machine.databaseFolder })
  expectOutput(disk, /^Filesystem.*\n.*\d%/m)
  const tls = await terminal.run(documented('certificate-expiry'), { '/etc/quartermaster': machine.etc })
  expectOutput(tls, /^notAfter=/m, /^No problems found\.$/m)

  const [, worker = ''] = /"pid":(\d+)/.exec(await terminal.run('cat "$LOG"')) ?? []
  process.kill(Number(worker), 'SIGKILL')
  const exits = async () => terminal.diagnose(documented('workers-exit'), onAdminPort)
  await waitUntil(async () => /"worker-exited"/.test(await exits()))
  const exited = await exits()
  expectOutput(
    exited,
    /^quartermaster_worker_exits_total\b.* 1$/m,
    /SIGKILL/,
    /^v8js_memory_heap_used_bytes/m,
  )

  await redis.kill()
  const sharing = async () => terminal.diagnose(documented('redis-unavailable'), onAdminPort)
  await waitUntil(async () => /^quartermaster_rate_limits_shared\{.*\} 0$/m.test(await sharing()))
  expectOutput(await sharing(), /Could not connect to Redis/)
  await redis.start()
  await waitUntil(async () => /^PONG\n(?:quartermaster_rate_limits_shared\{.*\} 1\n)+$/.test(await sharing()))

  await postgres.stop()
  await waitUntil(async () => (await machine.list(terminal.variable('KEY'))) === 503)
  const first = await terminal.diagnose(documented('incident-first'), onAdminPort)
  expectOutput(first, /code="database_unavailable".* [1-9]\d*$/m, /^✗ /m, /"level":"error"/)
  const unavailable = await terminal.diagnose(documented('database-unavailable'))
  expectOutput(unavailable, / - no response$/m, /^✗ No PostgreSQL listens at /m)
  await postgres.start()
  await waitUntil(async () => (await machine.status('/readyz')) === 200)
  // Each worker finds the new primary by itself, within a second; the one that was killed above knows no former primary.
  const failover = async () => terminal.run(documented('failover'), onAdminPort)
  await waitUntil(async () => /^quartermaster_primary_changes_total\b.* [1-9]/m.test(await failover()))
  expectOutput(await failover(), /^No problems found\.$/m)
  expectOutput(await machine.sql(documented('is-standby')), /^ f$/m)
}
