import type { Config } from '../../config/config.ts'
import { startDelivery } from '../../delivery-service.ts'
import { logTo } from '../../observability/logger.ts'
import { untilSignal } from '../until-signal.ts'
import { servingUrl } from './serve-command.ts'

/** Delivers webhooks until SIGTERM or SIGINT. */
export async function deliverCommand(config: Config): Promise<void> {
  if (config.QUARTERMASTER_WEBHOOK_SECRET === undefined)
    throw new Error('QUARTERMASTER_WEBHOOK_SECRET is not set, so webhooks cannot be signed.')
  const log = logTo(config.QUARTERMASTER_LOG_LEVEL, config.QUARTERMASTER_LOG_DESTINATION)
  const service = await startDelivery(config, { databaseUrl: servingUrl(config), log })
  await untilSignal()
  log.emit({ kind: 'stopping' })
  await service.close()
  log.emit({ kind: 'stopped' })
}
