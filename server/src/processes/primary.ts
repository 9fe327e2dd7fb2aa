import cluster from 'node:cluster'
import { changedSettings } from '../config/changed-settings.ts'
import type { Config, LoadedConfig } from '../config/config.ts'
import { type Admin, startAdmin } from '../http/admin-server.ts'
import { type EmitEvent, emitToAll } from '../observability/events.ts'
import type { Log } from '../observability/logger.ts'
import { mergeExpositions } from '../observability/merge-expositions.ts'
import { telemetryIdentity } from '../observability/otlp.ts'
import type { PrimaryMetrics, WorkerCounts } from '../observability/primary-metrics.ts'
import type { Systemd } from './systemd.ts'
import { Workers } from './workers.ts'

export interface PrimaryOptions {
  readonly processes: number
  readonly host: string
  readonly log: Log
  readonly systemd: Systemd
  /** Reads the settings again. */
  readonly reload?: (() => LoadedConfig) | undefined
  /** Resolves with the signal that ends the service, or when `ended` resolves. */
  readonly untilSignal: (ended: Promise<void>) => Promise<NodeJS.Signals | undefined>
}

/**
 * The primary of `serve --processes`: supervises the workers, and serves the admin port. It has no connection to the database.
 * Returns the exit code.
 */
export async function runPrimary(config: Config, options: PrimaryOptions): Promise<number> {
  // Workers accept from one listening socket. If the primary passed connections on (SCHED_RR), a connection on its way to a worker
  // that is killed would stay open without a response.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const { processes: count, host, log, systemd } = options
  const metrics = await metricsOf(config, { configured: count, running: () => workers.current.length })
  const emit: EmitEvent = emitToAll(log.emit, metrics?.emit)
  const shutdownDelayMs = config.QUARTERMASTER_SHUTDOWN_DELAY_MS
  const workers: Workers = new Workers({ count, shutdownDelayMs, emit, address: addressOf(config) })
  const ended = Promise.withResolvers<void>()
  const signal = options.untilSignal(ended.promise)
  let current = config
  /** Whether the workers can start with the settings as they are now. */
  const reread = (): boolean => {
    const loaded = options.reload?.()
    if (loaded === undefined) return true
    if (loaded.faults.length > 0) {
      emit({ kind: 'settings-rejected', faults: loaded.faults.map(({ message }) => message) })
      return false
    }
    emit({ kind: 'settings-read', ...changedSettings(current, loaded.config, true) })
    current = loaded.config
    return true
  }
  const restart = async () => {
    await systemd.reloading()
    if (reread()) await workers.restart()
    if (!workers.isStopping) await systemd.ready()
  }
  let admin: Admin | undefined
  try {
    if (metrics !== undefined) admin = await startAdminOf(config, workers, metrics)
    const started = await Promise.race([workers.start(), signal])
    if (typeof started === 'object' && !('port' in started)) {
      await workers.close(0)
      return started.exitCode || 1
    }
    if (typeof started === 'object') {
      emit({ kind: 'listening', host, port: started.port, adminPort: admin?.port, workers: count })
      process.on('SIGHUP', () => void restart())
      await systemd.ready()
    }
    const received = await signal
    log.emit({ kind: 'stopping' })
    const notified = systemd.stopping()
    await workers.close(received === 'SIGTERM' ? shutdownDelayMs : 0)
    await notified
    log.emit({ kind: 'stopped' })
    return 0
  } finally {
    ended.resolve()
    await admin?.close()
    await metrics?.close()
  }
}

/** The environment of all workers: one that is replaced later listens where the others do, whatever the file with settings has then. */
function addressOf({ PORT: port, QUARTERMASTER_HOST: host }: Config): Readonly<Record<string, string>> {
  return { PORT: String(port), QUARTERMASTER_HOST: host }
}

// Imported only if configured, as in `service.ts`.
async function metricsOf(config: Config, counts: WorkerCounts): Promise<PrimaryMetrics | undefined> {
  if (config.QUARTERMASTER_ADMIN_PORT === undefined) return undefined
  const { PrimaryMetrics } = await import('../observability/primary-metrics.ts')
  return new PrimaryMetrics(counts, telemetryIdentity(config))
}

function startAdminOf(config: Config, workers: Workers, metrics: PrimaryMetrics): Promise<Admin> {
  const { QUARTERMASTER_ADMIN_HOST: host, QUARTERMASTER_ADMIN_PORT: port = 0 } = config
  return startAdmin(
    {
      ready: () => readyOf(workers),
      live: () => everyWorker(workers, 'live'),
      // A worker that does not respond is missing from this scrape. `/livez` reports it.
      metrics: async () => {
        const texts = await Promise.allSettled(workers.current.map(({ peer }) => peer.call('metrics')))
        const received = texts.flatMap((text) => (text.status === 'fulfilled' ? [text.value] : []))
        return mergeExpositions([await metrics.text(), ...received])
      },
    },
    { host, port },
  )
}

/**
 * Ready if all running workers are, and there is at least one. A worker that is being replaced does not count: the others serve
 * its requests.
 */
async function readyOf(workers: Workers): Promise<void> {
  if (workers.isStopping) throw new Error('This process is stopping.')
  if (workers.current.length === 0) throw new Error('No worker process is running.')
  await everyWorker(workers, 'ready')
}

async function everyWorker(workers: Workers, method: 'ready' | 'live'): Promise<void> {
  const failures = await Promise.all(
    workers.current.map(({ number, peer }) =>
      peer.call(method).then(
        () => [],
        (error: Error) => [`Worker ${number}: ${error.message}`],
      ),
    ),
  )
  const messages = failures.flat()
  if (messages.length > 0) throw new Error(messages.join('\n'))
}
