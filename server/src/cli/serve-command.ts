import type { Config } from '../config.ts'
import { logTo } from '../observability/logger.ts'
import { startService } from '../service.ts'
import { untilSignal } from './until-signal.ts'

/** Serves until SIGTERM or SIGINT. */
export async function serve(config: Config, options: { port?: number; host?: string }): Promise<void> {
  const log = logTo(config.QUARTERMASTER_LOG_LEVEL, config.QUARTERMASTER_LOG_DESTINATION)
  const service = await startService(config, {
    databaseUrl: servingUrl(config),
    host: options.host ?? config.QUARTERMASTER_HOST,
    port: options.port ?? config.PORT,
    log,
  })
  const signal = await untilSignal()
  log.emit({ kind: 'stopping' })
  // The delay lets a load balancer notice the shutdown. After Ctrl-C there is none to wait for.
  await service.close(signal === 'SIGTERM' ? config.QUARTERMASTER_SHUTDOWN_DELAY_MS : 0)
  log.emit({ kind: 'stopped' })
}

function servingUrl({ DATABASE_URL: url }: Config): string {
  if (url !== undefined) return url
  throw new Error(
    'DATABASE_URL is not set. Example: DATABASE_URL=postgres://user:password@localhost:5432/quartermaster',
  )
}
