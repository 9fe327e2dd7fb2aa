import type { CounterStore } from '../accounts/rate-limits/counter-store.ts'
import type { Config } from '../config/config.ts'
import { logTo } from '../observability/logger.ts'
import { type Service, startService } from '../service.ts'
import { type Channel, Peer, type PrimaryMethods, type WorkerMethods, type WorkerStart } from './peer.ts'

export interface ListenOptions {
  readonly databaseUrl: string
  readonly host: string
  readonly port: number
}

/** A worker of `serve --processes`: serves requests as a single process does, and obeys its primary. */
export async function runWorker(config: Config, options: ListenOptions): Promise<void> {
  // A terminal sends these to the primary, too, which decides what to do.
  process.on('SIGINT', () => {}).on('SIGHUP', () => {})
  const start = Promise.withResolvers<WorkerStart>()
  const started = Promise.withResolvers<Service>()
  const end = Promise.withResolvers<(service: Service) => Promise<void>>()
  started.promise.catch(() => {})
  const methods: WorkerMethods = {
    serve: async (asked) => {
      start.resolve(asked)
      const { port } = await started.promise
      return { port }
    },
    ready: async () => void (await (await started.promise).ready()),
    live: async () => {},
    metrics: async () => (await started.promise).metrics(),
    close: async ({ delayMs }) => end.resolve((service) => service.close(delayMs)),
    drain: async ({ delayMs }) => end.resolve((service) => service.drain(delayMs)),
  }
  const channel: Channel = process
  const primary = new Peer<PrimaryMethods>(channel, methods)
  // For this worker alone. The primary replaces it.
  process.on('SIGTERM', () => end.resolve((service) => service.close(config.QUARTERMASTER_SHUTDOWN_DELAY_MS)))
  try {
    const { worker: number, workers, listenWhenReady } = await start.promise
    const { QUARTERMASTER_LOG_LEVEL: level, QUARTERMASTER_LOG_DESTINATION: destination } = config
    const log = logTo(level, destination, { pid: process.pid, worker: number })
    const worker = { number, workers, listenWhenReady, counters: countersOf(primary) }
    const service = await startService(config, { ...options, log, worker })
    started.resolve(service)
    const finish = await end.promise
    log.emit({ kind: 'stopping' })
    await finish(service)
    log.emit({ kind: 'stopped' })
  } finally {
    // Without a reference to the channel the process exits, with its exit code.
    process.channel?.unref()
  }
}

function countersOf(primary: Peer<PrimaryMethods>): CounterStore {
  return {
    isAvailable: true,
    add: (names, amounts) => primary.call('count', { names, amounts }),
    close: () => {},
  }
}
