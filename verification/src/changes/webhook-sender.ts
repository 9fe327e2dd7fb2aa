import { readConfig } from '../../../server/src/config/config.ts'
import { startDelivery } from '../../../server/src/delivery-service.ts'
import { defaultLimits } from '../../../server/src/limits/passed-limits.ts'

/** `quartermaster deliver` with shorter times, so that a lease of a killed process ends soon. It runs until it is killed. */
const config = readConfig(process.env)
await startDelivery(config, {
  databaseUrl: config.DATABASE_URL ?? '',
  log: { emit: () => {}, dropped: () => 0 },
  limits: {
    ...defaultLimits,
    webhookLeaseMs: 4_000,
    webhookLeaseSlackMsMax: 1_000,
    webhookRequestMsMax: 1_500,
    webhookSweepMs: 200,
    webhookRetrySecondsMin: 0.2,
    webhookRetrySecondsMax: 1,
  },
})
setInterval(() => {}, 2 ** 30)
