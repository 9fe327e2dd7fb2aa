import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, type ClientRequest, request } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as bodyOf } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { limitAccount } from '../src/accounts/account-changes.ts'
import { operator } from '../src/cli/operator.ts'
import { temporaryFolder } from './at-end.ts'
import { quartermaster } from './command.ts'
import { account, connected, freshDatabase, insertProducts, type TestAccount } from './database.ts'
import { eventually } from './eventually.ts'
import { sampleOf, scrape } from './exposition.ts'
import { isRunning, Processes } from './processes.ts'
import { TemporaryRedis } from './redis.ts'
import { slowList } from './slow-list.ts'

/** `serve --processes`: several worker processes on one port, supervised by a primary. */

const companies = '/api/v1/resources/company'
const partners = '/api/v1/resources/partner'

// On a busy machine, a connection may take longer than the 3 s of the default.
const url = `${await freshDatabase()}?connect_timeout=60`
const client = await connected(url)
const acme = await account(client, 'acme')

interface Sent {
  readonly status: number
  readonly connection: string | undefined
}

/** One request as acme. Rejects if the connection is refused, reset or closed without a response. */
function send(
  port: number,
  { agent = false, from = acme, body }: { agent?: Agent | false; from?: TestAccount; body?: string } = {},
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const sent = request({
      port,
      host: '127.0.0.1',
      agent,
      method: body === undefined ? 'GET' : 'POST',
      path: body === undefined ? companies : partners,
      headers: {
        host: `${from.name}.localhost`,
        authorization: `Bearer ${from.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
    })
    sent.once('error', reject)
    sent.once('response', (response) => {
      response.resume().once('error', reject)
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, connection: response.headers.connection }),
      )
    })
    sent.end(body)
  })
}

/** Adds the body of the response to `bodies`. It runs until it is destroyed, unless it is rejected. */
function openSlowList(port: number, from: TestAccount, n: number, bodies: string[]): ClientRequest {
  const headers = { host: `${from.name}.localhost`, authorization: `Bearer ${from.key}` }
  const sent = request({ port, host: '127.0.0.1', agent: false, path: slowList(n), headers })
  sent.on('error', () => {})
  sent.once('response', (response) => void bodyOf(response).then((body) => bodies.push(body)))
  return sent.end()
}

describe('serve --processes', () => {
  it('serves requests in several processes, with the metrics and the health of all on one admin port', async () => {
    const service = await Processes.start({ DATABASE_URL: url, QUARTERMASTER_ADMIN_PORT: '0' })
    // Any worker may accept a connection.
    let sent = 0
    const workersThatServed = () =>
      new Set(service.lines('request-completed').map(({ worker }) => worker)).size
    await eventually(async () => {
      sent += 4
      const responses = await Promise.all(Array.from({ length: 4 }, () => send(service.port)))
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      return workersThatServed() === 2
    })
    const { samples } = await scrape(service.adminPort)
    const count = 'http_server_request_duration_seconds_count'
    const labels = { http_route: companies, http_response_status_code: '200' }
    const served = ['1', '2'].map((worker) => sampleOf(samples, count, { ...labels, worker }))
    expect(Math.min(...served)).toBeGreaterThan(0)
    expect((served[0] ?? 0) + (served[1] ?? 0)).toBe(sent)
    for (const worker of ['1', '2']) expect(sampleOf(samples, 'quartermaster_ready', { worker })).toBe(1)
    expect(sampleOf(samples, 'quartermaster_workers', { state: 'running' })).toBe(2)
    expect(sampleOf(samples, 'process_memory_usage_bytes', { worker: 'primary' })).toBeGreaterThan(0)
    expect([(await service.admin('/livez')).status, (await service.admin('/readyz')).status]).toEqual([
      200, 200,
    ])

    // Every line of a worker names its process, also the lines that are not written by pino.
    await eventually(() => service.lines('request-completed').length === sent)
    const pids = [service.pids(1), service.pids(2)].flat()
    expect(new Set(pids).size).toBe(2)
    for (const { pid, worker } of service.lines('request-completed'))
      expect(pids[(worker ?? 0) - 1]).toBe(pid)

    service.signal('SIGTERM')
    expect(await service.exited).toEqual([0, null])
    expect(pids.filter(isRunning)).toEqual([])
    expect(new Set(service.lines('stopped').map(({ worker }) => worker))).toEqual(new Set([1, 2, undefined]))
  })

  it('shares the long reads of an account among the workers', async () => {
    const service = await Processes.start({ DATABASE_URL: url, QUARTERMASTER_ACCOUNT_READS_MAX: '2' })
    const busy = await account(client, 'busy')
    await insertProducts(client, busy, 20_000, 'x'.repeat(500))
    const rejections: string[] = []
    const open: ClientRequest[] = []
    const hasRejected = (worker: number) =>
      service.lines('request-completed').some((line) => line.worker === worker && line['status'] === 429)
    // Any worker may accept a connection, so requests are sent until both have rejected one.
    await eventually(() => {
      open.push(openSlowList(service.port, busy, open.length, rejections))
      return hasRejected(1) && hasRejected(2)
    })
    await eventually(() => rejections.length > 0)
    for (const sent of open) sent.destroy()
    for (const body of rejections) expect(body).toContain('This account has 1 long query running')
  })

  it('is not ready while a worker cannot reach the database, but alive', async () => {
    const service = await Processes.start({ QUARTERMASTER_ADMIN_PORT: '0' })
    const ready = await service.admin('/readyz')
    expect([ready.status, await ready.text()]).toEqual([
      503,
      expect.stringMatching(/^Worker 1: The database cannot be reached.*\nWorker 2: The database/),
    ])
    expect((await service.admin('/livez')).status).toBe(200)
    // A worker whose event loop is blocked.
    const pid = service.pid(2)
    process.kill(pid, 'SIGSTOP')
    const live = await service.admin('/livez')
    expect([live.status, await live.text()]).toEqual([503, expect.stringMatching(/^Worker 2: /)])
    process.kill(pid, 'SIGCONT')
    await eventually(async () => (await service.admin('/livez')).status === 200)
  })

  it('replaces a worker that is killed, later each time, while the other one serves', async () => {
    const service = await Processes.start({ DATABASE_URL: url, QUARTERMASTER_ADMIN_PORT: '0' })
    for (const n of [1, 2]) {
      process.kill(service.pid(1), 'SIGKILL')
      await eventually(() => service.lines('worker-exited').length === n)
      expect((await send(service.port)).status).toBe(200)
      await eventually(() => service.pids(1).length === n + 1)
    }
    expect(service.lines('worker-exited')).toMatchObject([
      { worker: 1, workerPid: service.pids(1)[0], signal: 'SIGKILL', delayMs: 100 },
      { worker: 1, workerPid: service.pids(1)[1], signal: 'SIGKILL', delayMs: 200 },
    ])
    expect(service.pids(2)).toHaveLength(1)
    const { samples } = await scrape(service.adminPort)
    expect(sampleOf(samples, 'quartermaster_worker_exits_total')).toBe(2)
    for (let i = 0; i < 4; i++) expect((await send(service.port)).status).toBe(200)
  })

  it('ends its workers when the primary is killed', async () => {
    const service = await Processes.start({})
    const pids = [service.pids(1), service.pids(2)].flat()
    service.signal('SIGKILL')
    await eventually(() => !pids.some(isRunning))
  })

  it('exits with the message and the exit code of a worker that cannot start', async () => {
    const taken = createServer()
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => {
        const address = taken.address()
        resolve(typeof address === 'object' ? (address?.port ?? 0) : 0)
      })
    })
    const inUse = new Processes({}, ['--port', String(port), '--processes', '2'])
    expect(await inUse.exited).toEqual([1, null])
    expect(inUse.stderr).toMatch(/^quartermaster: .*EADDRINUSE.*Stop the process that listens there.*\n$/)
    taken.close()

    const wrong = new Processes({ QUARTERMASTER_TRUSTED_PROXIES: 'nonsense' })
    expect(await wrong.exited).toEqual([1, null])
    expect(wrong.stderr).toMatch(
      /^quartermaster: Invalid configuration: QUARTERMASTER_TRUSTED_PROXIES has "nonsense"[^\n]*\n$/,
    )
  })

  it('rejects an invalid number of processes', async () => {
    const text = '33'
    const settings = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
    const option = await quartermaster(['serve', '--processes', text], settings)
    expect([option.code, option.stderr]).toEqual([
      64,
      expect.stringContaining('It must be a number from 1 to 32, or auto.'),
    ])
    const setting = await quartermaster(['serve'], { ...settings, QUARTERMASTER_PROCESSES: text })
    expect([setting.code, setting.stderr]).toEqual([
      1,
      expect.stringContaining('QUARTERMASTER_PROCESSES must be a number from 1 to 32, or auto.'),
    ])
  })

  it('serves on after SIGTERM, not ready', async () => {
    const service = await Processes.start(
      {
        DATABASE_URL: url,
        QUARTERMASTER_ADMIN_PORT: '0',
        QUARTERMASTER_PROCESSES: '2',
        // Longer than the requests take on a busy machine. The process is killed after the test.
        QUARTERMASTER_SHUTDOWN_DELAY_MS: '60000',
      },
      [],
    )
    service.signal('SIGTERM')
    await eventually(() => service.lines('stopping').length === 3)
    const ready = await service.admin('/readyz')
    expect([ready.status, await ready.text()]).toEqual([503, 'This process is stopping.\n'])
    for (let i = 0; i < 2; i++) {
      expect(await send(service.port)).toEqual({ status: 200, connection: 'close' })
      expect((await fetch(`http://127.0.0.1:${service.port}/readyz`)).status).toBe(503)
    }
  })

  it('exits after SIGTERM when the delay has passed', async () => {
    const service = await Processes.start({ DATABASE_URL: url, QUARTERMASTER_SHUTDOWN_DELAY_MS: '2000' })
    const startedAt = performance.now()
    service.signal('SIGTERM')
    expect(await service.exited).toEqual([0, null])
    expect(performance.now() - startedAt).toBeGreaterThan(1_900)
  })
})

describe('SIGHUP', () => {
  it('replaces all workers without a failed request', async () => {
    const service = await Processes.start({ DATABASE_URL: url, QUARTERMASTER_SHUTDOWN_DELAY_MS: '5000' })
    const before = [service.pids(1), service.pids(2)].flat()
    const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    // One account each: on a busy machine, writes of the same account would wait for each other until they time out.
    const accounts: TestAccount[] = []
    for (let i = 0; i < 6; i++) accounts.push(await account(client, `restarted-${i}`))
    const statuses: number[] = []
    const connections: (string | undefined)[] = []
    const done = new AbortController()
    const clients = accounts.map(async (from, i) => {
      const agent = agents[i] ?? false
      for (let n = 0; !done.signal.aborted; n++) {
        const body = n % 2 === 0 ? {} : { body: JSON.stringify({ name: `partner ${i}` }) }
        const { status, connection } = await send(service.port, { agent, from, ...body })
        statuses.push(status)
        if (agent !== false) connections.push(connection)
      }
    })
    await eventually(() => statuses.length > 20)
    service.signal('SIGHUP')
    await eventually(() => service.lines('restarted').length === 1)
    done.abort()
    // Rejects if a connection was refused, reset or closed without a response.
    await Promise.all(clients)
    for (const agent of agents) agent.destroy()
    expect(statuses.filter((status) => status !== 200 && status !== 201)).toEqual([])
    // Each keep-alive connection to an old worker got one more response, which closed it.
    expect(connections).toContain('close')
    const after = [service.pids(1), service.pids(2)].flat()
    expect(after).toHaveLength(4)
    expect(before.filter(isRunning)).toEqual([])
    expect(after.filter(isRunning)).toHaveLength(2)
  })

  it('waits for the next request of an idle keep-alive connection', async () => {
    const service = await Processes.start({ DATABASE_URL: url, QUARTERMASTER_SHUTDOWN_DELAY_MS: '600000' }, [
      '--processes',
      '1',
    ])
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    expect(await send(service.port, { agent })).toEqual({ status: 200, connection: 'keep-alive' })
    service.signal('SIGHUP')
    await eventually(() => service.pids(1).length === 2)
    await eventually(() => service.lines('stopping').length === 1)
    expect(await send(service.port, { agent })).toEqual({ status: 200, connection: 'close' })
    // Without open connections, the old process does not wait for the end of the delay.
    await eventually(() => service.lines('restarted').length === 1)
    expect(service.pids(1).map(isRunning)).toEqual([false, true])
    agent.destroy()
  })

  it('keeps the old workers if a new one cannot start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quartermaster-processes-'))
    const certificate = join(folder, 'root.crt')
    copyFileSync(new URL('processes.test.ts', import.meta.url), certificate)
    const withFile = `${url}&sslmode=disable&sslrootcert=${certificate}`
    const service = await Processes.start({ DATABASE_URL: withFile, QUARTERMASTER_ADMIN_PORT: '0' })
    rmSync(folder, { recursive: true })
    service.signal('SIGHUP')
    await eventually(() => service.lines('restart-failed').length === 1)
    expect(service.stderr).toContain('which cannot be read')
    expect(service.lines('restart-failed')).toMatchObject([{ worker: 1 }])
    const pids = [service.pids(1), service.pids(2)].flat()
    expect(pids).toHaveLength(2)
    expect(pids.filter(isRunning)).toHaveLength(2)
    const { samples } = await scrape(service.adminPort)
    expect(sampleOf(samples, 'quartermaster_restarts_total', { outcome: 'failed' })).toBe(1)
  })
})

describe('a file with settings', () => {
  const folder = temporaryFolder('settings')
  const file = join(folder, 'settings.env')
  const write = (...lines: string[]) => writeFileSync(file, `# settings\n${lines.join('\n')}\n`)
  const settings = { DATABASE_URL: url, QUARTERMASTER_SETTINGS_FILE: file }
  const limitOf = async (port: number) => {
    const response = await fetch(`http://127.0.0.1:${port}${companies}`, {
      headers: { 'x-forwarded-host': 'acme.localhost', authorization: `Bearer ${acme.key}` },
    })
    return /"account";q=(\d+)/.exec(response.headers.get('ratelimit-policy') ?? '')?.[1]
  }

  it('is read again on SIGHUP; the log names what has changed, and what needs a restart', async () => {
    write('QUARTERMASTER_REQUESTS_PER_MINUTE=5000', 'QUARTERMASTER_SHUTDOWN_DELAY_MS=7')
    const service = await Processes.start(settings)
    expect(await limitOf(service.port)).toBe('5000')
    const statuses: number[] = []
    const done = new AbortController()
    const load = (async () => {
      while (!done.signal.aborted) statuses.push((await send(service.port)).status)
    })()
    // The environment of the test sets the delay, and takes precedence.
    write('QUARTERMASTER_REQUESTS_PER_MINUTE=6000', 'PORT=1', 'QUARTERMASTER_SHUTDOWN_DELAY_MS=8')
    service.signal('SIGHUP')
    await eventually(() => service.lines('restarted').length === 1)
    done.abort()
    await load
    expect(service.lines('settings-read')).toMatchObject([
      { changed: ['QUARTERMASTER_REQUESTS_PER_MINUTE'], needRestart: ['PORT'] },
    ])
    expect(await limitOf(service.port)).toBe('6000')
    expect(statuses.length).toBeGreaterThan(0)
    expect(statuses.filter((status) => status !== 200)).toEqual([])
  })

  it('with a mistake is rejected as a whole, and the workers stay', async () => {
    write('QUARTERMASTER_REQUESTS_PER_MINUTE=5000')
    const service = await Processes.start(settings, ['--processes', '1'])
    write('QUARTERMASTER_REQUESTS_PER_MINUTE=6000', 'QUARTERMASTER_REQUESTS_PER_MINUT=1', 'nonsense')
    service.signal('SIGHUP')
    await eventually(() => service.lines('settings-rejected').length === 1)
    expect(JSON.stringify(service.lines('settings-rejected'))).toMatch(
      /line 4 is not NAME=value.*MINUT is not a setting/,
    )
    expect(await limitOf(service.port)).toBe('5000')
    expect(service.pids(1).map(isRunning)).toEqual([true])
    expect((await quartermaster(['config'], settings)).code).toBe(1)
  })

  it('does not change a single process, which says what a restart would change', async () => {
    write('QUARTERMASTER_REQUESTS_PER_MINUTE=5000')
    const service = new Processes(settings, [])
    await eventually(() => service.lines('listening').length === 1)
    write('QUARTERMASTER_REQUESTS_PER_MINUTE=6000')
    service.signal('SIGHUP')
    await eventually(() => service.lines('settings-read').length === 1)
    expect(service.lines('settings-read')).toMatchObject([
      { changed: [], needRestart: ['QUARTERMASTER_REQUESTS_PER_MINUTE'] },
    ])
    expect(await limitOf(service.port)).toBe('5000')
  })
})

describe('rate limits', () => {
  /** Requests on new connections, four at a time, until 40 in a row were rejected. */
  async function accepted(port: number, from: TestAccount): Promise<number> {
    let [count, rejected] = [0, 0]
    while (rejected < 40) {
      for (const { status } of await Promise.all([1, 2, 3, 4].map(() => send(port, { from })))) {
        if (status === 200) count++
        rejected = status === 429 ? rejected + 1 : 0
      }
    }
    return count
  }

  async function limited(name: string): Promise<TestAccount> {
    const created = await account(client, name)
    await limitAccount(client, operator(), name, { requestsPerMinute: 100 })
    return created
  }

  it('apply to all workers together, without Redis and while Redis is unavailable', async () => {
    const alone = await Processes.start({ DATABASE_URL: url }, ['--processes', '3'])
    const without = await accepted(alone.port, await limited('without'))
    expect(without).toBeGreaterThanOrEqual(100)
    expect(without).toBeLessThanOrEqual(115)

    await eventually(() => new Set(alone.lines('request-completed').map(({ worker }) => worker)).size > 1)

    const redis = await TemporaryRedis.start()
    const shared = await Processes.start({ DATABASE_URL: url, REDIS_URL: redis.url })
    await eventually(() => shared.lines('rate-limits-shared').length === 2)
    expect(await accepted(shared.port, await limited('shared'))).toBeLessThanOrEqual(115)
    await redis.kill()
    await eventually(() => shared.lines('rate-limits-local').length === 2)
    const unavailable = await accepted(shared.port, await limited('unavailable'))
    expect(unavailable).toBeGreaterThanOrEqual(100)
    expect(unavailable).toBeLessThanOrEqual(115)
    await redis.stop()
  })
})
