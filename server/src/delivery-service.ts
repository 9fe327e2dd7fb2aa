import type { Config } from './config/config.ts'
import { Definitions } from './fields/definitions.ts'
import { readiness } from './http/readiness.ts'
import { defaultLimits } from './limits/passed-limits.ts'
import { Database } from './postgres/database.ts'
import {
  accountReadsOf,
  adminServer,
  identityOf,
  type ServeOptions,
  telemetryOf,
  webhooksOf,
} from './service.ts'

export interface DeliveryService {
  readonly adminPort: number | undefined
  close(): Promise<void>
}

/** A process that delivers webhooks and serves no requests, except health checks and metrics on the admin port. */
export async function startDelivery(
  config: Config,
  options: Pick<ServeOptions, 'databaseUrl' | 'log' | 'limits'>,
): Promise<DeliveryService> {
  const { databaseUrl: url, limits = defaultLimits, log } = options
  const stopping = new AbortController()
  const observed = {
    pools: () => database.pools,
    replicas: () => undefined,
    verificationsWaiting: () => 0,
    feedWaiters: () => 0,
    backgroundCounts: () => 0,
    ready: () => ready(),
    logLinesDropped: log.dropped,
  }
  const { metrics, traces, emit } = await telemetryOf(config, { log }, observed, limits)
  const { QUARTERMASTER_DATABASE_POOL_MAX: connectionsMax, QUARTERMASTER_READ_MS_MAX: readMsMax } = config
  const database = new Database({ ...identityOf(config), url, emit, connectionsMax, readMsMax, limits })
  const ready = readiness(database, stopping.signal, limits.readinessCacheMs)
  const accountReads = accountReadsOf(config, database, limits)
  const webhooks = webhooksOf(
    { ...config, QUARTERMASTER_WEBHOOK_DELIVERY: 'on' },
    { database, definitions: new Definitions(database), accountReads, emit, limits },
  )
  const admin = await adminServer(config, metrics, ready)
  emit({ kind: 'delivering', adminPort: admin?.port })
  return {
    adminPort: admin?.port,
    close: async () => {
      stopping.abort()
      await webhooks.close()
      await admin?.close()
      await Promise.all([metrics?.close(), traces?.close()])
      await database.close()
    },
  }
}
