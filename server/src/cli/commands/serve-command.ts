import cluster from 'node:cluster'
import { changedSettings } from '../../config/changed-settings.ts'
import type { Config, LoadedConfig } from '../../config/config.ts'
import { logTo } from '../../observability/logger.ts'
import { Systemd } from '../../processes/systemd.ts'
import type { ServeOptions } from '../../service.ts'
import { processesOf } from '../process-count.ts'
import { untilSignal } from '../until-signal.ts'

export interface ServeCommandOptions {
  readonly port?: number
  readonly host?: string
  readonly processes?: number
  /** Reads the settings again. */
  readonly reload?: (() => LoadedConfig) | undefined
}

/** Serves until SIGTERM or SIGINT: in this process, or in several that share the port. Returns the exit code. */
export async function serve(config: Config, options: ServeCommandOptions): Promise<number> {
  const address = {
    databaseUrl: servingUrl(config),
    host: options.host ?? config.QUARTERMASTER_HOST,
    port: options.port ?? config.PORT,
  }
  const processes = options.processes ?? processesOf(config)
  if (cluster.isWorker) {
    const { runWorker } = await import('../../processes/worker.ts')
    await runWorker(config, address)
    return 0
  }
  if (processes === undefined) return serveAlone(config, { ...address, reload: options.reload })
  const log = logTo(config.QUARTERMASTER_LOG_LEVEL, config.QUARTERMASTER_LOG_DESTINATION)
  const systemd = new Systemd(config.NOTIFY_SOCKET, log.emit)
  const { runPrimary } = await import('../../processes/primary.ts')
  return runPrimary(config, { ...address, processes, log, systemd, untilSignal, reload: options.reload })
}

async function serveAlone(
  config: Config,
  { reload, ...address }: Omit<ServeOptions, 'log'> & Pick<ServeCommandOptions, 'reload'>,
): Promise<number> {
  const log = logTo(config.QUARTERMASTER_LOG_LEVEL, config.QUARTERMASTER_LOG_DESTINATION)
  const systemd = new Systemd(config.NOTIFY_SOCKET, log.emit)
  // Imported here: the primary of several processes does not need it, and takes 100 MB less memory without it.
  const { startService } = await import('../../service.ts')
  const service = await startService(config, { ...address, log })
  // A single process has nobody to take over from it: it only says what a restart would change.
  process.on('SIGHUP', () => {
    const loaded = reload?.()
    if (loaded === undefined) return
    if (loaded.faults.length > 0)
      log.emit({ kind: 'settings-rejected', faults: loaded.faults.map(({ message }) => message) })
    else log.emit({ kind: 'settings-read', ...changedSettings(config, loaded.config, false) })
  })
  const [signal] = await Promise.all([untilSignal(), systemd.ready()])
  log.emit({ kind: 'stopping' })
  const notified = systemd.stopping()
  // The delay lets a load balancer notice the shutdown. After Ctrl-C there is none to wait for.
  await service.close(signal === 'SIGTERM' ? config.QUARTERMASTER_SHUTDOWN_DELAY_MS : 0)
  await notified
  log.emit({ kind: 'stopped' })
  return 0
}

export function servingUrl({ DATABASE_URL: url }: Config): string {
  if (url !== undefined) return url
  throw new Error(
    'DATABASE_URL is not set. Example: DATABASE_URL=postgres://user:password@localhost:5432/quartermaster',
  )
}
