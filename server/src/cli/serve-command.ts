import type { Server } from 'node:http'
import { BlockList, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Checks } from '../accounts/checks.ts'
import { Rates } from '../accounts/rates.ts'
import { SharedCounts } from '../accounts/shared-counts.ts'
import { Activity } from '../activity/activity.ts'
import type { Config } from '../config.ts'
import { type Admin, startAdmin } from '../http/admin.ts'
import { buildApp } from '../http/app.ts'
import { readiness } from '../http/readiness.ts'
import { limits } from '../limits.ts'
import { AccountWrites } from '../store/account-writes.ts'
import { Exports } from '../store/exports.ts'
import { Store } from '../store/pool.ts'
import { Turns } from '../store/turns.ts'
import { type Tell, tellAll } from '../telemetry/events.ts'
import { type Log, logTo } from '../telemetry/log.ts'
import type { Metrics, States } from '../telemetry/metrics.ts'
import type { Traces } from '../telemetry/traces.ts'
import { keepHeapRoom } from './heap-room.ts'
import { untilSignal } from './until-signal.ts'

export interface Service {
  readonly port: number
  readonly adminPort: number | undefined
  /**
   * From now on `/readyz` answers 503. After `delayMs`, in which requests are served as before, the port is closed;
   * requests under way may finish, then what is left is closed.
   */
  close(delayMs?: number): Promise<void>
}

export interface ServeOptions {
  readonly databaseUrl: string
  readonly host: string
  readonly port: number
  readonly log: Log
}

export async function startService(config: Config, options: ServeOptions): Promise<Service> {
  const heapRoom = keepHeapRoom()
  let stopping = false
  const isStopping = () => stopping
  const shutdown = new AbortController()
  const metrics = await metricsOf(config, {
    pools: () => store.pools,
    checksWaiting: () => checks.waiting,
    ready: () => ready(),
    logLinesDropped: options.log.dropped,
  })
  const traces = await tracesOf(config, tellAll(options.log.tell, metrics?.tell))
  const tell = tellAll(options.log.tell, metrics?.tell, traces?.tell)
  const identity = { role: config.DATABASE_ROLE, pooler: config.DATABASE_POOLER }
  const { DATABASE_POOL_MAX: connectionsMax, READ_MS_MAX: readMsMax } = config
  const store = new Store({ ...identity, url: options.databaseUrl, tell, connectionsMax, readMsMax })
  const exports = new Exports(store.primary, { ...identity, msMax: config.EXPORT_MS_MAX })
  const checks = new Checks(store, tell)
  const activity = new Activity(store, tell)
  const shared = sharedCounts(config, tell)
  const ready = readiness(store, isStopping)
  const app = buildApp({
    store,
    turns: new Turns(store, config.ACCOUNT_READS_MAX),
    writes: new AccountWrites(store, config.DATABASE_POOL_MAX),
    exports,
    doorkeeper: {
      checks,
      hosts: { serviceDomain: config.SERVICE_DOMAIN, defaultAccount: config.DEFAULT_ACCOUNT },
      trustedProxies: blockList(config.TRUSTED_PROXIES),
      rates: new Rates({ account: config.REQUESTS_PER_MINUTE, key: config.KEY_REQUESTS_PER_MINUTE }, shared),
    },
    tell: tellAll(tell, (event) => activity.note(event)),
    ready,
    isStopping,
    shutdown: shutdown.signal,
    answerMsMax: config.READ_MS_MAX,
  })
  const connectionsClosed = watchConnections(app.server)
  let admin: Admin | undefined
  const close = async (delayMs = 0) => {
    stopping = true
    if (delayMs > 0) await sleep(delayMs)
    await drain(app, shutdown)
    await connectionsClosed()
    await activity.close()
    await admin?.close()
    await Promise.all([metrics?.close(), traces?.close()])
    shared?.close()
    await Promise.all([store.close(), exports.close()])
    heapRoom.close()
  }
  try {
    if (metrics !== undefined) {
      const at = { host: config.ADMIN_HOST, port: config.ADMIN_PORT ?? 0 }
      admin = await startAdmin({ metrics, ready }, at)
    }
    await app.listen({ host: options.host, port: options.port, backlog: limits.connectionsWaitingMax })
  } catch (error) {
    await close()
    throw error
  }
  const address = app.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : options.port
  tell({ kind: 'listening', host: options.host, port, adminPort: admin?.port })
  return { port, adminPort: admin?.port, close }
}

/** Lets requests under way finish, in so much time. */
async function drain(app: ReturnType<typeof buildApp>, shutdown: AbortController): Promise<void> {
  const late = setTimeout(() => {
    shutdown.abort()
    app.server.closeAllConnections()
  }, limits.shutdownMsMax)
  // A connection whose last request was under way stays open for the next, which would only be refused.
  const idle = setInterval(() => app.server.closeIdleConnections(), limits.shutdownLookMs)
  await app.close()
  clearInterval(idle)
  clearTimeout(late)
}

/**
 * Returns what waits until every connection has closed. The server reports its own end earlier, and a request that is cut is
 * reported only when its connection closes: it would miss its account's log.
 */
function watchConnections(server: Server): () => Promise<unknown> {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return () =>
    Promise.all(
      [...open].map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))),
    )
}

// Loaded only where they are asked for: OpenTelemetry takes as long to load as all the rest.
async function metricsOf(config: Config, states: States): Promise<Metrics | undefined> {
  if (config.ADMIN_PORT === undefined) return undefined
  const { Metrics } = await import('../telemetry/metrics.ts')
  return new Metrics(states)
}

async function tracesOf(config: Config, tell: Tell): Promise<Traces | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: ratio } = config
  if (endpoint === undefined) return undefined
  const { tracesTo } = await import('../telemetry/traces.ts')
  return tracesTo({ endpoint, ratio, tell })
}

/** Serves until SIGTERM or SIGINT. */
export async function serve(config: Config, options: { port?: number; host?: string }): Promise<void> {
  const log = logTo(config.LOG_LEVEL)
  const service = await startService(config, {
    databaseUrl: servingUrl(config),
    host: options.host ?? config.HOST,
    port: options.port ?? config.PORT,
    log,
  })
  const signal = await untilSignal()
  log.tell({ kind: 'stopping' })
  // A person who presses Ctrl-C has no load balancer that has to notice first.
  await service.close(signal === 'SIGTERM' ? config.SHUTDOWN_DELAY_MS : 0)
  log.tell({ kind: 'stopped' })
}

function servingUrl({ DATABASE_URL: url }: Config): string {
  if (url !== undefined) return url
  throw new Error(
    'DATABASE_URL is not set. Example: DATABASE_URL=postgres://user:password@localhost:5432/quartermaster',
  )
}

function sharedCounts({ REDIS_URL: url }: Config, tell: Tell): SharedCounts | undefined {
  if (url === undefined) return undefined
  return new SharedCounts({
    url,
    onChange: (isShared, reason) =>
      tell(isShared ? { kind: 'rates-shared' } : { kind: 'rates-alone', reason }),
  })
}

function blockList(addresses: string | undefined): BlockList {
  const list = new BlockList()
  for (const entry of (addresses ?? '')
    .split(',')
    .map((a) => a.trim())
    .filter((a) => a !== '')) {
    const [address = '', prefix] = entry.split('/')
    const family = address.includes(':') ? 'ipv6' : 'ipv4'
    try {
      if (prefix === undefined) list.addAddress(address, family)
      else list.addSubnet(address, Number(prefix), family)
    } catch (error) {
      throw new Error(
        `TRUSTED_PROXIES: "${entry}" is neither an IP address nor a network such as 10.0.0.0/8.`,
        {
          cause: error,
        },
      )
    }
  }
  return list
}
