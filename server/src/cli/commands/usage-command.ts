import { runOn } from '../../accounts/lifecycle/run-on.ts'
import { type AccountUsage, topUsage, type UsageOrder } from '../../accounts/operators/top-usage.ts'
import type { Config } from '../../config/config.ts'
import { asOwner } from '../database/owner.ts'
import { note, printJson, printTable } from '../print.ts'
import { grouped } from '../progress.ts'
import type { JsonOption } from './account-command.ts'

export interface UsageOptions extends JsonOption {
  readonly top: UsageOrder
  readonly days: number
  readonly limit: number
}

/** As the operator API lists it. */
export async function usageCommand(config: Config, { top, days, limit, json }: UsageOptions): Promise<void> {
  const accounts = await asOwner(config, (client) => runOn(client)<AccountUsage>(topUsage(top, days, limit)))
  if (json === true) printJson({ accounts })
  else if (accounts.length === 0) note('No account has sent a request.')
  else {
    printTable(
      ['REQUESTS', 'ERRORS', 'MS', 'ACCOUNT'],
      accounts.map(({ account, requests, errors, ms }) => [
        grouped(requests),
        grouped(errors),
        grouped(Math.round(ms)),
        account,
      ]),
    )
  }
}
