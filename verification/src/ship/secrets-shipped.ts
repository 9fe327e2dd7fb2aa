import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openRedis } from '../../../server/src/accounts/rate-limits/redis-connection.ts'
import { freePort, startTemporaryPostgres } from '../../../server/src/cli/database/temporary-postgres.ts'
import { quartermaster } from '../../../server/test/command.ts'
import { TemporaryRedis } from '../../../server/test/redis.ts'
import type { Check, Context } from '../check.ts'
import { type ServerProcess, Service } from '../service.ts'

/**
 * Gives the service passwords and a token, in the environment and in files, and an API key. Then searches for them in all that
 * commands print, in the log at level `trace`, and in what `ps` shows, while the database, Redis and the collector work
 * and while they reject the service.
 */
export const secretsShipped: Check = {
  name: 'secrets_shipped',
  bound: '0 secrets in config, log, ps',
  async run(context) {
    const fixture = await startFixture(context)
    const printed: Printed[] = []
    const inEnvironment = await fixture.service.serve(fixture.inEnvironment)
    const inFiles = await fixture.service.serve(fixture.inFiles)
    for (const server of [inEnvironment, inFiles]) await request(server, fixture.secrets.key)
    printed.push(...processes([inEnvironment, inFiles], inFiles))
    for (const environment of [fixture.inEnvironment, fixture.inFiles, fixture.invalid]) {
      printed.push(...(await outputs(environment, [['config'], ['config', '--json'], ['doctor']])))
    }
    await fixture.rejectService()
    for (const server of [inEnvironment, inFiles]) {
      await request(server, fixture.secrets.key)
      await untilLogged(server, ['request-failed', 'rate-limits-local', 'metrics-unsent'])
    }
    printed.push(
      ...(await outputs(fixture.inEnvironment, [['doctor'], ['migrate'], ['account', 'list']])),
      ...(await outputs({ ...fixture.inFiles, DEBUG: '1' }, [['migrate']])),
    )
    const log = [inEnvironment, inFiles].map((server) => readFileSync(server.log, 'utf8')).join('')
    printed.push({ source: 'log', text: log, witness: '"msg":"request-completed"' })
    return outcomeOf(printed, fixture.secrets)
  },
}

/** A text in which no secret may be. It must contain the witness, which shows that the right text was searched. */
interface Printed {
  readonly source: string
  readonly text: string
  readonly witness: string
}

type Secrets = Readonly<Record<'database' | 'redis' | 'token' | 'key', string>>

async function startFixture(context: Context) {
  const random = () => randomBytes(16).toString('hex')
  const [database, redisPassword, token] = [random(), random(), random()]
  const postgres = await startTemporaryPostgres({ fsync: 'off' })
  const admin = new pg.Client(postgres.url)
  await admin.connect()
  await admin.query(`alter role postgres password '${database}'`)
  const rules = join(postgres.folder, 'data', 'pg_hba.conf')
  writeFileSync(rules, 'host all all all scram-sha-256\n')
  await admin.query('select pg_reload_conf()')
  const url = postgres.url.replace('postgres@', `postgres:${database}@`)
  const service = await Service.on({ ...postgres, url })
  context.atEnd(async () => {
    await admin.end().catch(() => {})
    await service.stop()
  })
  const redis = await TemporaryRedis.start()
  context.atEnd(() => redis.stop())
  const redisAdmin = openRedis(redis.url, {})
  context.atEnd(async () => redisAdmin.disconnect())
  await redisAdmin.config('SET', 'requirepass', redisPassword)
  const values = {
    DATABASE_URL: url,
    DATABASE_OWNER_URL: url,
    REDIS_URL: `redis://:${redisPassword}@127.0.0.1:${redis.port}`,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${token}`,
  }
  const others = {
    QUARTERMASTER_LOG_LEVEL: 'trace',
    // Nothing listens there, so that failed transmissions are logged.
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://${token}@127.0.0.1:${await freePort()}`,
    OTEL_METRIC_EXPORT_INTERVAL: '500',
    OTEL_TRACES_SAMPLER_ARG: '1',
  }
  const secrets: Secrets = { database, redis: redisPassword, token, key: await service.account('acme') }
  return {
    service,
    secrets,
    inEnvironment: { ...values, ...others },
    inFiles: { ...withFiles(service.folder, values), ...others, OTEL_EXPORTER_OTLP_ENDPOINT: deadCollector },
    invalid: {
      DATABASE_URL: `postgres://web:${database}/x@127.0.0.1/erp`,
      DATABASE_OWNER_URL_FILE: url,
      REDIS_URL: redisPassword,
      OTEL_EXPORTER_OTLP_HEADERS: token,
      PORT: database,
      QUARTERMASTER_PASSWORD: database,
      QUARTERMASTER_TRUSTED_PROXIES: '10.0.0.0/99',
    },
    /** From now on, PostgreSQL and Redis reject the passwords, and close all connections. */
    rejectService: async () => {
      await admin.query(`alter role postgres password '${random()}'`)
      await admin.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()',
      )
      await redisAdmin.config('SET', 'requirepass', random())
      await redisAdmin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    },
  }
}

/** A port that is reserved and on which nothing listens. */
const deadCollector = 'http://127.0.0.1:1'

/** The same settings as files. An empty variable counts as unset. */
function withFiles(folder: string, values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const file = join(folder, name)
      writeFileSync(file, `${value}\n`)
      return [
        [name, ''],
        [`${name}_FILE`, file],
      ]
    }),
  )
}

async function request({ port }: ServerProcess, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/inventory/product`, { headers })
  await response.arrayBuffer()
}

async function untilLogged({ log, port }: ServerProcess, events: readonly string[]): Promise<void> {
  const until = Date.now() + 60_000
  for (;;) {
    const text = readFileSync(log, 'utf8')
    const missing = events.filter((event) => !text.includes(`"msg":"${event}"`))
    if (missing.length === 0) return
    if (Date.now() > until) throw new Error(`the log has no ${missing.join(', ')}:\n${text.slice(-2000)}`)
    await fetch(`http://127.0.0.1:${port}/readyz`).then((response) => response.arrayBuffer())
    await sleep(100)
  }
}

async function outputs(
  environment: Readonly<Record<string, string>>,
  commands: readonly (readonly string[])[],
): Promise<Printed[]> {
  const printed: Printed[] = []
  for (const args of commands) {
    const { stdout, stderr } = await quartermaster(args, environment)
    const witness = args[0] === 'config' ? 'QUARTERMASTER_LOG_LEVEL' : ''
    printed.push({ source: `quartermaster ${args.join(' ')}`, text: stdout + stderr, witness })
  }
  return printed
}

/** The arguments of all processes, which `ps` shows to every user, and the environment of the one that has its secrets in files. */
function processes(servers: readonly ServerProcess[], inFiles: ServerProcess): Printed[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const read = (id: string | number, file: string) => {
    try {
      return readFileSync(`/proc/${id}/${file}`, 'utf8').replaceAll('\0', ' ')
    } catch {
      return ''
    }
  }
  const [first] = servers
  return [
    {
      source: 'ps',
      text: ids.map((id) => read(id, 'cmdline')).join('\n'),
      witness: `serve --port ${first?.port}`,
    },
    { source: 'environment', text: read(inFiles.pid, 'environ'), witness: 'DATABASE_URL_FILE=' },
  ]
}

/** Searches for a part of each secret, so that a truncated one is found, too. */
function outcomeOf(printed: readonly Printed[], secrets: Secrets) {
  const found = printed.flatMap(({ source, text }) =>
    Object.entries(secrets)
      .filter(([, secret]) => text.includes(secret.slice(8, 24)))
      .map(([name]) => `${source} contains the secret ${name}`),
  )
  const incomplete = printed.filter(({ text, witness }) => text === '' || !text.includes(witness))
  const bytes = printed.reduce((sum, { text }) => sum + text.length, 0)
  return {
    value: `${found.length} in ${printed.length} outputs`,
    samples: printed.length,
    ok: found.length === 0 && incomplete.length === 0,
    note: [
      `${printed.length} outputs with ${(bytes / 1024).toFixed(0)} KB were searched for ${Object.keys(secrets).length} secrets`,
      ...found,
      ...incomplete.map(({ source, witness }) => `${source} does not contain ${witness}`),
    ].join('\n'),
  }
}
