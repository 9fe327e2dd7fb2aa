import { Argument, Command, Option } from 'commander'
import { type ResourceName, resources } from '../../catalog/resources.ts'
import type { Config } from '../../config/config.ts'
import type { IdSwitch } from '../../import/switch-ids.ts'
import { limits } from '../../limits/limits.ts'
import { integerBetween, listLimit, parsePerMinute, parseQuota } from '../arguments.ts'
import { accountCreate, accountLimit, accountList, accountShow, accountStatus } from './account-command.ts'
import type { ApplyOptions } from './apply-command.ts'
import { addArchiveCommands } from './archive-commands.ts'
import { addCorsCommand } from './cors-command.ts'
import { addDeletionCommands } from './deletion-commands.ts'

const json = () => new Option('--json', 'print one line of JSON')

export function accountCommands(config: Config): Command {
  const command = new Command('account').description('manage accounts')
  command
    .command('create <name>')
    .description('create an account; its name is the first label of its host')
    .addOption(
      new Option(
        '--ids <source>',
        'who assigns ids below 2^32: this service or another system (default: the first write decides)',
      ).choices(['service', 'external']),
    )
    .option('--if-not-exists', 'succeed if the account exists, and change nothing')
    .addOption(json())
    .action((name, options) => accountCreate(config, name, options))
  command
    .command('apply <file>')
    .description('bring accounts to the state in a JSON file; - reads standard input')
    .option('--dry-run', 'print what would change, and change nothing')
    .option('--json', 'print a line of JSON for each account that changes, and a summary')
    .action(async (file: string, options: ApplyOptions) => {
      const { accountApply } = await import('./apply-command.ts')
      process.exitCode = await accountApply(config, file, options)
    })
  command
    .command('list')
    .description('list accounts by name')
    .addOption(new Option('--after <name>', 'begin after this name').default('', 'none'))
    .addOption(listLimit())
    .addOption(json())
    .action((options) => accountList(config, options))
  command
    .command('show <name>')
    .description("show an account's status, limits, keys and tallies")
    .addOption(json())
    .action((name, options) => accountShow(config, name, options))
  command
    .command('limit <name>')
    .description("set an account's rate limits and quotas")
    .option('--requests <count>', "requests per minute for the account, or 'default'", parsePerMinute)
    .option('--key-requests <count>', "requests per minute for each key, or 'default'", parsePerMinute)
    .option('--records <count>', "records of each resource, or 'default'", parseQuota)
    .option('--idempotency-results <count>', "results stored for retries, or 'default'", parseQuota)
    .option('--audit-entries <count>', "entries of the audit log, or 'default'", parseQuota)
    .addOption(json())
    .action((name, options) => accountLimit(config, name, options))
  addCorsCommand(command, config)
  command
    .command('suspend <name>')
    .description("reject all of an account's keys; its data is not changed")
    .addOption(json())
    .action((name, options) => accountStatus(config, name, 'suspended', options))
  command
    .command('activate <name>')
    .description('activate an account, and cancel its scheduled deletion')
    .addOption(json())
    .action((name, options) => accountStatus(config, name, 'active', options))
  addDeletionCommands(command, config)
  addIdsCommand(command, config)
  addArchiveCommands(command, config)
  return command
}

function addIdsCommand(command: Command, config: Config): void {
  command
    .command('ids <name>')
    .description("decide who assigns a resource's ids: this service, or an ERP")
    .addArgument(new Argument('<resource>', 'resource').choices(Object.keys(resources)))
    .addArgument(new Argument('<source>', 'who assigns ids').choices(['service', 'external']))
    .option(
      '--from <id>',
      "the other system's lowest id (default: after the last one assigned here)",
      integerBetween(1, limits.externalIdMax),
    )
    .addOption(json())
    .action(async (name: string, resource: ResourceName, to: IdSwitch['to'], options) => {
      const { accountIds } = await import('./ids-command.ts')
      await accountIds(config, name, resource, { to, ...options })
    })
}
