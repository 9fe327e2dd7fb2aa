import { type Command, Option } from 'commander'
import { usageOrders } from '../../accounts/operators/top-usage.ts'
import type { Config } from '../../config/config.ts'
import { limits } from '../../limits/limits.ts'
import { integerBetween, listLimit } from '../arguments.ts'
import type { UsageOptions } from './usage-command.ts'

export function addUsageCommand(command: Command, config: Config): void {
  command
    .command('usage')
    .description('list the accounts that use the most')
    .addOption(
      new Option('--top <order>', 'what to order by; ms is the time of all requests')
        .choices(usageOrders)
        .default('requests'),
    )
    .addOption(
      new Option('--days <count>', 'days to sum up, in UTC, today included')
        .argParser(integerBetween(1, limits.usageDayDays))
        .default(limits.operatorUsageDaysDefault),
    )
    .addOption(listLimit())
    .addOption(new Option('--json', 'print one line of JSON'))
    .action(async (options: UsageOptions) => {
      const { usageCommand } = await import('./usage-command.ts')
      await usageCommand(config, options)
    })
}
