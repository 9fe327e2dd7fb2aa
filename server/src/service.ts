import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { AccountReads } from './accounts/account-reads.ts'
import { AccountWrites } from './accounts/account-writes.ts'
import { AllowedOrigins } from './accounts/allowed-origins.ts'
import { KeyVerifier } from './accounts/key-verifier.ts'
import { type CounterStore, FallbackCounters } from './accounts/rate-limits/counter-store.ts'
import { RateLimiter } from './accounts/rate-limits/rate-limiter.ts'
import { RedisCounters } from './accounts/rate-limits/redis-counters.ts'
import { SharedCounters } from './accounts/rate-limits/shared-counters.ts'
import { Activity } from './activity/activity.ts'
import { Batches } from './batches/batches.ts'
import { ChangeFeed } from './changes/change-feed.ts'
import { FeedWaiters } from './changes/waiters.ts'
import { type Config, writeRoleOf } from './config/config.ts'
import { wasErasedSince } from './erasure/erasure.ts'
import { ErasureSweep } from './erasure/erasure-sweep.ts'
import { Definitions } from './fields/definitions.ts'
import { FieldSweep } from './fields/field-sweep.ts'
import { ValueIndexes } from './fields/value-indexes.ts'
import { tuneHeap } from './heap-tuning.ts'
import { type Admin, startAdmin } from './http/admin-server.ts'
import type { AuthenticationParts } from './http/plugins/authenticate.ts'
import { RequestObserver } from './http/plugins/request-context.ts'
import { readiness } from './http/readiness.ts'
import { buildServer } from './http/server.ts'
import { closeServer, stopAccepting, watchConnections } from './http/shutdown.ts'
import { defaultLimits, type Limits } from './limits/passed-limits.ts'
import { BackgroundCounts } from './lists/background-counts.ts'
import { Exports } from './lists/exports/exports.ts'
import { ListReader } from './lists/list-reader.ts'
import { PageCache } from './lists/page-cache.ts'
import { PlanCache } from './lists/plan-cache.ts'
import { RecordReader } from './lists/record-reader.ts'
import { ResponseCache } from './lists/response-cache.ts'
import { SummaryReader } from './lists/summary-reader.ts'
import { parseNetworks } from './networks.ts'
import { type EmitEvent, emitToAll } from './observability/events.ts'
import type { Log } from './observability/logger.ts'
import type { Metrics, ObservedState } from './observability/metrics.ts'
import { otlpTarget, telemetryIdentity } from './observability/otlp.ts'
import type { Traces } from './observability/traces.ts'
import type { PoolState } from './postgres/connection-pool.ts'
import { Database } from './postgres/database.ts'
import { replicaUrls } from './postgres/primary/database-url.ts'
import { Replicas } from './postgres/replicas/replicas.ts'
import { ConnectionShares, EventLoopShares } from './scheduler/shares.ts'
import { withinTime } from './timeout.ts'
import { masterKeysOf } from './webhooks/signature.ts'
import { Webhooks, type WebhooksOptions } from './webhooks/webhooks.ts'
import { CreateBatches } from './writes/create-batches.ts'
import { IdempotentWrites } from './writes/idempotency.ts'
import { JournalSweep } from './writes/journal-sweep.ts'

export interface Service {
  readonly port: number
  readonly adminPort: number | undefined
  /** Rejects if the process cannot serve requests. */
  readonly ready: () => Promise<unknown>
  /** In the format of Prometheus; empty without an admin port. */
  readonly metrics: () => Promise<string>
  /**
   * `/readyz` returns 503 from now on. Requests are served for another `delayMs`; then the port is closed, requests in
   * flight may finish, and connections to the database and Redis are closed.
   */
  close(delayMs?: number): Promise<void>
  /**
   * Accepts no new connection from now on, because other processes do. Open connections have `delayMs` for one more request,
   * whose response has `Connection: close`. An idle connection that was closed at once could lose a request on its way.
   */
  drain(delayMs: number): Promise<void>
}

export interface ServeOptions {
  readonly databaseUrl: string
  readonly host: string
  readonly port: number
  readonly log: Log
  /** Default: `defaultLimits`. */
  readonly limits?: Limits
  /** If this process is one of several that share a port. The primary then has the admin port. */
  readonly worker?: WorkerOptions
}

export interface WorkerOptions {
  readonly number: number
  /** The number of workers, which share the long reads of an account. */
  readonly workers: number
  /** Listen only when the readiness check succeeds, and fail if that takes longer than `workerReadyMsMax`. */
  readonly listenWhenReady: boolean
  /** The rate-limit counters of the primary. */
  readonly counters: CounterStore
}

/** Starts a serving process: creates its parts, listens, and closes everything in reverse. */
export async function startService(config: Config, options: ServeOptions): Promise<Service> {
  const { limits = defaultLimits, worker } = options
  const [stopping, shutdown] = [new AbortController(), new AbortController()]
  const signals = { stopping: stopping.signal, shutdown: shutdown.signal }
  const { app, waiters, metrics, ready, emit, ...parts } = await createParts(config, options, limits, signals)
  const connectionsClosed = watchConnections(app.server)
  let admin: Admin | undefined
  const finish = async () => {
    await Promise.all([closeServer(app, shutdown, limits), parts.stopDelivery()])
    await connectionsClosed()
    await parts.close(admin)
  }
  const close = async (delayMs = 0) => {
    stopping.abort()
    if (delayMs > 0) await sleep(delayMs)
    await finish()
  }
  const drain = async (delayMs: number) => {
    stopping.abort()
    stopAccepting(app.server, waiters)
    await withinTime(delayMs, connectionsClosed())
    await finish()
  }
  try {
    if (worker === undefined) admin = await adminServer(config, metrics, ready)
    if (worker?.listenWhenReady === true) await untilReady(ready, limits)
    await app.listen({ host: options.host, port: options.port, backlog: limits.listenBacklog })
  } catch (error) {
    await close()
    throw error
  }
  const port = portOf(app.server) ?? options.port
  emit({ kind: 'listening', host: options.host, port, adminPort: admin?.port })
  return { port, adminPort: admin?.port, ready, metrics: async () => metrics?.text() ?? '', close, drain }
}

/** The composition root: creates every part of a serving process. A part owns its caches; no module has one. */
async function createParts(
  config: Config,
  options: ServeOptions,
  limits: Limits,
  { stopping, shutdown }: { readonly stopping: AbortSignal; readonly shutdown: AbortSignal },
) {
  const { databaseUrl: url, log, worker } = options
  const heapTuning = tuneHeap()
  const observed: ObservedState = {
    pools: () => [...withWaiting(database.pools, accountReads), ...(replicas?.pools ?? [])],
    replicas: () => replicas?.counts,
    verificationsWaiting: () => keyVerifier.waiting,
    feedWaiters: () => waiters.count,
    backgroundCounts: () => counts.running,
    ready: () => ready(),
    logLinesDropped: log.dropped,
  }
  const { metrics, traces, emit } = await telemetryOf(config, options, observed, limits)
  const { database, replicas, readMsMax } = databaseOf(config, url, emit, limits)
  const bulk = bulkOf(config, database, limits, replicas)
  const counts = new BackgroundCounts(readMsMax, emit)
  const keyVerifier = new KeyVerifier(database, emit, limits, replicas !== undefined)
  const sweeps = [
    new JournalSweep(database, limits),
    new FieldSweep(database, limits),
    new ErasureSweep(database, limits),
  ]
  const activity = new Activity(database, emit, limits, sweeps)
  const waiters = new FeedWaiters(database, limits)
  const sharedCounters = sharedCountersOf(config, emit, worker?.counters)
  const ready = readiness(database, stopping, limits.readinessCacheMs)
  const accountReads = accountReadsOf(config, database, limits, { replicas, workers: worker?.workers })
  const definitions = new Definitions(database)
  const valueIndexes = new ValueIndexes(database, emit, limits)
  const webhooks = webhooksOf(config, { database, definitions, accountReads, emit, limits })
  const authentication = authenticationOf(config, keyVerifier, sharedCounters, limits)
  const { rateLimiter, trustedProxies } = authentication
  const emitOfRequest = emitToAll(emit, activity.record, webhooks.observe)
  const parts = { database, accountReads, waiters, authentication, ready, stopping, shutdown, limits }
  const app = buildServer({
    ...parts,
    readMsMax,
    ...readersOf(database, accountReads, valueIndexes, counts),
    ...bulk,
    writes: new AccountWrites(database, config.QUARTERMASTER_DATABASE_POOL_MAX, limits.accountWriteWaitMsMax),
    creates: new CreateBatches(database),
    origins: new AllowedOrigins(database, limits),
    idempotent: new IdempotentWrites(database),
    definitions,
    feed: new ChangeFeed({ accountReads, definitions, waiters, rateLimiter, limits }),
    webhooks: webhooks.messages,
    shares: new EventLoopShares(),
    observer: new RequestObserver(emitOfRequest, trustedProxies, shutdown),
    emit: emitOfRequest,
  })
  const close = async (admin: Admin | undefined) => {
    await Promise.all([webhooks.close(), valueIndexes.close()])
    await activity.close()
    await admin?.close()
    await Promise.all([metrics?.close(), traces?.close()])
    sharedCounters?.close()
    await Promise.all([database.close(), replicas?.close(), bulk.exports.close(), bulk.batches.close()])
    heapTuning.close()
  }
  return { app, waiters, metrics, ready, emit, stopDelivery: () => webhooks.stopDelivery(), close }
}

async function untilReady(ready: () => Promise<unknown>, limits: Limits): Promise<void> {
  const until = performance.now() + limits.workerReadyMsMax
  for (;;) {
    try {
      await ready()
      return
    } catch (error) {
      if (performance.now() > until) throw error
      await sleep(limits.workerReadyPollMs)
    }
  }
}

export function identityOf(config: Config) {
  return {
    role: config.QUARTERMASTER_DATABASE_ROLE,
    writeRole: writeRoleOf(config),
    pooler: config.QUARTERMASTER_DATABASE_POOLER,
  }
}

function databaseOf(
  config: Config,
  url: string,
  emit: EmitEvent,
  limits: Limits,
): { database: Database; replicas: Replicas | undefined; readMsMax: number } {
  const { QUARTERMASTER_DATABASE_POOL_MAX: connectionsMax, QUARTERMASTER_READ_MS_MAX: readMsMax } = config
  const options = { ...identityOf(config), emit, connectionsMax, readMsMax, limits }
  const database = new Database({ ...options, url })
  const urls = config.DATABASE_REPLICA_URLS
  const replicas = urls === undefined ? undefined : new Replicas(replicaUrls(urls), { ...options, database })
  return { database, replicas, readMsMax }
}

/** Reads wait for a connection in the queues of their accounts, not in that of the pool. */
function withWaiting(pools: readonly PoolState[], { waiting }: AccountReads): PoolState[] {
  return pools.map((state) =>
    state.pool === 'reads' ? { ...state, waiting: state.waiting + waiting } : state,
  )
}

export function accountReadsOf(
  config: Config,
  database: Database,
  limits: Limits,
  {
    replicas,
    workers = 1,
  }: { readonly replicas?: Replicas | undefined; readonly workers?: number | undefined } = {},
): AccountReads {
  const { QUARTERMASTER_ACCOUNT_READS_MAX: readsMax, QUARTERMASTER_DATABASE_POOL_MAX: connectionsMax } =
    config
  // Of all workers together: each read occupies a CPU of the database, however many processes serve.
  const accountMax = Math.max(1, Math.floor(readsMax / workers))
  return new AccountReads(database, { accountMax, connectionsMax, limits }, replicas)
}

/** Lists and records, with their caches. */
function readersOf(
  database: Database,
  accountReads: AccountReads,
  valueIndexes: ValueIndexes,
  counts: BackgroundCounts,
) {
  const pageCache = new PageCache()
  return {
    plans: new PlanCache(),
    responseCache: new ResponseCache(),
    pageCache,
    listReader: new ListReader(accountReads, pageCache, valueIndexes, counts),
    summaryReader: new SummaryReader(accountReads, counts),
    recordReader: new RecordReader(database),
  }
}

export function webhooksOf(
  config: Config,
  parts: Pick<WebhooksOptions, 'database' | 'definitions' | 'accountReads' | 'emit' | 'limits'>,
): Webhooks {
  return new Webhooks({
    ...parts,
    masterKeys: masterKeysOf(
      config.QUARTERMASTER_WEBHOOK_SECRET,
      config.QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS,
    ),
    networks: parseNetworks(config.QUARTERMASTER_WEBHOOK_NETWORKS),
    delivers: config.QUARTERMASTER_WEBHOOK_DELIVERY === 'on',
  })
}

/** Exports and batches have connections of their own. */
function bulkOf(
  config: Config,
  database: Database,
  limits: Limits,
  replicas: Replicas | undefined,
): { exports: Exports; batches: Batches } {
  const { primary } = database
  const identity = identityOf(config)
  const msMax = config.QUARTERMASTER_EXPORT_MS_MAX
  return {
    exports: new Exports(primary, {
      ...identity,
      msMax,
      limits,
      replicas,
      isErased: wasErasedSince(database),
    }),
    batches: new Batches(primary, { ...identity, role: identity.writeRole, limits }),
  }
}

function portOf(server: Server): number | undefined {
  const address = server.address()
  return typeof address === 'object' ? address?.port : undefined
}

export async function adminServer(
  { QUARTERMASTER_ADMIN_HOST: host, QUARTERMASTER_ADMIN_PORT: port }: Config,
  metrics: Metrics | undefined,
  ready: () => Promise<unknown>,
): Promise<Admin | undefined> {
  if (metrics === undefined || port === undefined) return undefined
  return startAdmin({ metrics: () => metrics.text(), ready, live: async () => {} }, { host, port })
}

/** Metrics and traces, if they are configured, and the function that passes events to them and to the log. */
export async function telemetryOf(
  config: Config,
  { log, worker }: Pick<ServeOptions, 'log' | 'worker'>,
  observed: ObservedState,
  limits: Limits,
): Promise<{ metrics: Metrics | undefined; traces: Traces | undefined; emit: EmitEvent }> {
  const metrics = await metricsOf(config, worker?.number, observed, log.emit)
  const traces = await tracesOf(config, emitToAll(log.emit, metrics?.emit), limits)
  return { metrics, traces, emit: emitToAll(log.emit, metrics?.emit, traces?.emit) }
}

// Imported only if configured: OpenTelemetry takes as long to load as everything else together.
async function metricsOf(
  config: Config,
  worker: number | undefined,
  state: ObservedState,
  emit: EmitEvent,
): Promise<Metrics | undefined> {
  const target = otlpTarget(config, 'metrics')
  const isScraped = config.QUARTERMASTER_ADMIN_PORT !== undefined
  if (!isScraped && target === undefined) return undefined
  const { Metrics } = await import('./observability/metrics.ts')
  const otlp = target && { target, intervalMs: config.OTEL_METRIC_EXPORT_INTERVAL, isScraped, emit }
  return new Metrics(state, { ...telemetryIdentity(config), worker: worker?.toString() }, otlp)
}

async function tracesOf(config: Config, emit: EmitEvent, limits: Limits): Promise<Traces | undefined> {
  const target = otlpTarget(config, 'traces')
  if (target === undefined) return undefined
  const { tracesTo } = await import('./observability/traces.ts')
  const identity = telemetryIdentity(config)
  const { OTEL_TRACES_SAMPLER_ARG: ratio } = config
  return tracesTo({ target, identity, ratio, emit, exportMsMax: limits.traceExportMsMax })
}

function authenticationOf(
  config: Config,
  keyVerifier: KeyVerifier,
  sharedCounters: SharedCounters | undefined,
  limits: Limits,
): AuthenticationParts {
  const perMinute = {
    account: config.QUARTERMASTER_REQUESTS_PER_MINUTE,
    key: config.QUARTERMASTER_KEY_REQUESTS_PER_MINUTE,
  }
  return {
    keyVerifier,
    hosts: {
      serviceDomain: config.QUARTERMASTER_DOMAIN,
      defaultAccount: config.QUARTERMASTER_DEFAULT_ACCOUNT,
    },
    trustedProxies: parseNetworks(config.QUARTERMASTER_TRUSTED_PROXIES),
    rateLimiter: new RateLimiter(perMinute, sharedCounters),
    connections: new ConnectionShares(limits),
  }
}

/** Counters in Redis, which all machines share; without Redis, or while it is unavailable, those of the primary, if there is one. */
function sharedCountersOf(
  { REDIS_URL: url }: Config,
  emit: EmitEvent,
  primary: CounterStore | undefined,
): SharedCounters | undefined {
  if (url === undefined) return primary && new SharedCounters(primary)
  const redis = new RedisCounters({
    url,
    onChange: (isShared, reason) =>
      emit(isShared ? { kind: 'rate-limits-shared' } : { kind: 'rate-limits-local', reason }),
  })
  return new SharedCounters(primary === undefined ? redis : new FallbackCounters(redis, primary))
}
