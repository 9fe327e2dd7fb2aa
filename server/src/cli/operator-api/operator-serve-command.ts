import type { Config } from '../../config/config.ts'
import { logTo } from '../../observability/logger.ts'
import { UsageError } from '../command-error.ts'
import { ownerUrl } from '../database/owner.ts'
import { untilSignal } from '../until-signal.ts'
import { startOperatorService } from './operator-service.ts'

/** Until SIGTERM or SIGINT. */
export async function operatorServe(
  config: Config,
  options: { readonly port?: number; readonly host?: string },
): Promise<void> {
  const port = options.port ?? config.QUARTERMASTER_OPERATOR_PORT
  if (port === undefined)
    throw new UsageError(
      'Pass --port PORT, or set QUARTERMASTER_OPERATOR_PORT: the operator API has no default port.',
    )
  const log = logTo(config.QUARTERMASTER_LOG_LEVEL, config.QUARTERMASTER_LOG_DESTINATION)
  const service = await startOperatorService(config, {
    ownerUrl: ownerUrl(config).url,
    host: options.host ?? config.QUARTERMASTER_OPERATOR_HOST,
    port,
    emit: log.emit,
  })
  await untilSignal()
  log.emit({ kind: 'stopping' })
  await service.close()
  log.emit({ kind: 'stopped' })
}
