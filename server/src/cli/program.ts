import { Argument, Command, Option } from 'commander'
import { type ResourceName, resources } from '../catalog/resources.ts'
import { type Config, type LoadedConfig, throwFaults } from '../config/config.ts'
import type { MaxDelete } from '../import/import-rows.ts'
import { type ExportFormat, exportFormats } from '../query/sql/export-statement.ts'
import { version } from '../version.ts'
import {
  integerBetween,
  listLimit,
  parseExpiry,
  parseMaxDelete,
  parseOverlap,
  parseProcesses,
  parseScopes,
} from './arguments.ts'
import { accountCommands } from './commands/account-commands.ts'
import { fieldCommands } from './commands/field-commands.ts'
import { defaultScopes, keyCreate, keyList, keyRevoke, keyRotate } from './commands/key-command.ts'
import { typesCommand } from './commands/types-command.ts'
import { addUsageCommand } from './commands/usage-commands.ts'
import { webhookCommands } from './commands/webhook-commands.ts'
import { addCompletionCommand } from './completion/completion-command.ts'
import { addDatabaseCommands } from './database/database-commands.ts'
import { ownerUrl } from './database/owner.ts'
import type { DoctorOptions } from './doctor/doctor-command.ts'
import { operatorCommands } from './operator-api/operator-commands.ts'

const json = () => new Option('--json', 'print one line of JSON')
const account = () => new Option('--account <name>', 'name of the account (required)').makeOptionMandatory()
const port = () =>
  new Option('--port <port>', 'port to listen on; 0 for any free port').argParser(integerBetween(0, 65_535))
const processes = (description: string) =>
  new Option('--processes <count>', description).argParser(parseProcesses)
const expiry = (description: string) =>
  new Option('--expires <time>', description).argParser((text: string) => parseExpiry(text))

const environmentHelp = `
Environment:
  DATABASE_URL        the database, as postgres://user:password@host:5432/name
  DATABASE_OWNER_URL  the same database with the owner of the tables as user, for
                      all commands except serve (default: DATABASE_URL)
  quartermaster config lists all settings.

Start with: quartermaster demo`

/** All commands. Modules that are large or rarely used are imported when their command runs. */
export function program(loaded: LoadedConfig): Command {
  const { config } = loaded
  const command = new Command('quartermaster')
    .description(
      'A fast HTTP API in front of an ERP: products, partners and companies of any number of accounts.',
    )
    .version(version)
    .showHelpAfterError('(use --help for usage)')
    .addHelpText('after', environmentHelp)
  command.commandsGroup('Service:')
  addServeCommands(command, loaded)
  command.commandsGroup('Accounts:')
  for (const commands of [accountCommands, keyCommands, fieldCommands, webhookCommands, operatorCommands])
    command.addCommand(commands(config))
  addUsageCommand(command, config)
  command.commandsGroup('Data:')
  addDataCommands(command, config)
  addEraseCommand(command, config)
  command.addCommand(typesCommand())
  command.commandsGroup('Database:')
  addChangesCommand(command, config)
  addDatabaseCommands(command, config)
  addCheckCommands(command, loaded)
  command.hook('preAction', (_program, action) => {
    if (!reportsFaults.has(action.name())) throwFaults(loaded.faults)
  })
  command.commandsGroup('Help:')
  addCompletionCommand(command)
  command.helpCommand('help [command]', 'display help for command')
  return command
}

function addServeCommands(command: Command, { config, reload }: LoadedConfig): void {
  command
    .command('serve')
    .description('start the HTTP service')
    .addOption(port())
    .option('--host <address>', 'address to listen on')
    .addOption(processes('processes that share the port; auto: one per CPU'))
    .action(async (options: { port?: number; host?: string; processes?: number }) => {
      const { serve } = await import('./commands/serve-command.ts')
      process.exitCode = await serve(config, { ...options, reload })
    })

  command
    .command('deliver')
    .description('deliver webhooks without serving requests')
    .action(async () => {
      const { deliverCommand } = await import('./commands/deliver-command.ts')
      await deliverCommand(config)
    })

  command
    .command('demo')
    .description('serve generated data, without DATABASE_URL from a temporary PostgreSQL')
    .option('--products <count>', 'number of products', integerBetween(0, 10_000_000), 10_000)
    .addOption(port().default(8080))
    .option('--account <name>', 'name of the account', 'acme')
    .addOption(json())
    .action(async (options: { products: number; port: number; account: string; json?: boolean }) => {
      const { demoCommand } = await import('./demo/demo-command.ts')
      await demoCommand(config, options)
    })
}

function keyCommands(config: Config): Command {
  const command = new Command('key').description('manage the API keys of an account')
  command
    .command('create')
    .description('create a key, and print it this once')
    .addOption(account())
    .requiredOption('--name <text>', 'name, such as its purpose (required)')
    .addOption(
      new Option('--scopes <list>', 'scopes, separated by commas')
        .argParser(parseScopes)
        .default(defaultScopes, defaultScopes.join(',')),
    )
    .addOption(expiry('a date such as 2027-01-01, or a number of days such as 90d').default(null, 'never'))
    .addOption(json())
    .action((options) => keyCreate(config, options))
  command
    .command('list')
    .description("list an account's keys, newest first")
    .addOption(account())
    .addOption(listLimit())
    .addOption(json())
    .action((options) => keyList(config, options))
  command
    .command('rotate <key-id>')
    .description('replace a key by a new one with its name and scopes, and print that')
    .addOption(account())
    .addOption(
      new Option(
        '--overlap <time>',
        'how long the old key stays valid: 7d, 12h, 30m; 0: not at all (required)',
      )
        .argParser(parseOverlap)
        .makeOptionMandatory(),
    )
    .addOption(expiry('expiry of the new key (default: after the same lifetime)'))
    .addOption(json())
    .action((keyId, options) => keyRotate(config, keyId, options))
  command
    .command('revoke <key-id>')
    .description('revoke a key, from the next request on')
    .addOption(account())
    .addOption(json())
    .action((keyId, options) => keyRevoke(config, keyId, options))
  return command
}

interface ImportOptions {
  account: string
  replace?: boolean
  mode?: 'upsert' | 'update' | 'insert'
  key?: string
  maxDelete?: MaxDelete
  dryRun?: boolean
  rejects?: string
  format?: 'csv' | 'ndjson'
  json?: boolean
}

function addDataCommands(command: Command, config: Config): void {
  command
    .command('import')
    .description("import an account's records from a CSV or NDJSON file")
    .addArgument(new Argument('<resource>', 'resource to import').choices(Object.keys(resources)))
    .argument('<file>', 'file to import, or - for standard input')
    .addOption(account())
    .addOption(
      new Option('--mode <mode>', 'update: insert no records; insert: change none')
        .choices(['upsert', 'update', 'insert'])
        .default('upsert'),
    )
    .option('--key <field>', 'unique field that names records (default: id)')
    .option('--replace', "delete the other system's records that the file lacks")
    .option('--max-delete <max>', 'what --replace may delete: 500 or 25% (default: 10%)', parseMaxDelete)
    .option('--dry-run', 'print what would be done, and write nothing')
    .option('--rejects <file>', 'file for rejected rows (default: <file>.rejects.csv)')
    .addOption(
      new Option('--format <format>', 'input format (default: by the file name)').choices(['csv', 'ndjson']),
    )
    .addOption(json())
    .action(async (resource: ResourceName, file: string, options: ImportOptions) => {
      const { importCommand } = await import('./import/import-command.ts')
      const { stdout, stderr } = process
      process.exitCode = await importCommand({
        ownerUrl: ownerUrl(config).url,
        resource,
        file,
        replace: false,
        json: false,
        ...options,
        stdout,
        stderr,
      })
    })

  command
    .command('export')
    .description("write an account's records to stdout, from one snapshot")
    .addArgument(new Argument('<resource>', 'resource to export').choices(Object.keys(resources)))
    .addOption(account())
    .option('--filter <filter>', 'only records that match (default: all)')
    .option('--fields <names>', 'fields, separated by commas (default: all)')
    .addOption(
      new Option('--format <format>', 'output format; spreadsheet is CSV without formulas')
        .choices(exportFormats)
        .default('ndjson'),
    )
    .action(
      async (
        resource: ResourceName,
        options: { account: string; filter?: string; fields?: string; format: ExportFormat },
      ) => {
        const { exportCommand } = await import('./commands/export-command.ts')
        // The exit code if the reader closes the pipe, which ends the process before the export is complete.
        process.exitCode = 1
        const { stdout, stderr } = process
        const { url } = ownerUrl(config)
        process.exitCode = await exportCommand({ ownerUrl: url, resource, ...options, stdout, stderr })
      },
    )
}

function addEraseCommand(command: Command, config: Config): void {
  command
    .command('erase <id>')
    .description('erase a partner with every trace of its values; can be killed and repeated')
    .addOption(account())
    .addOption(
      new Option('--value <text>', 'also search logs for this text, such as an earlier address; repeatable')
        .argParser((text: string, previous: readonly string[]) => [...previous, text])
        .default([], 'none'),
    )
    .addOption(json())
    .action(async (id: string, options: { account: string; value: readonly string[]; json?: boolean }) => {
      const { eraseCommand } = await import('./commands/erase-command.ts')
      await eraseCommand(config, id, options)
    })
}

function addChangesCommand(command: Command, config: Config): void {
  command
    .command('changes')
    .description('write changes since a cursor to stdout, as NDJSON')
    .addArgument(
      new Argument('<resource>', 'resource whose changes to write').choices(Object.keys(resources)),
    )
    .addOption(account())
    .option('--since <cursor>', 'cursor of an earlier run or an export, or now (default: every record)')
    .option('--filter <filter>', 'only records that match (default: all)')
    .option('--fields <names>', 'fields, separated by commas (default: all)')
    .option('--follow', 'continue with new changes until SIGINT or SIGTERM')
    .action(
      async (
        resource: ResourceName,
        options: { account: string; since?: string; filter?: string; fields?: string; follow?: boolean },
      ) => {
        const { changesCommand } = await import('./commands/changes-command.ts')
        const { untilSignal } = await import('./until-signal.ts')
        // The exit code if the reader closes the pipe.
        process.exitCode = 1
        const { stdout, stderr } = process
        const { url: owner } = ownerUrl(config)
        const stop = new AbortController()
        const done = changesCommand({
          ownerUrl: owner,
          resource,
          ...options,
          stop: stop.signal,
          stdout,
          stderr,
        })
        await untilSignal(done.then(() => undefined))
        stop.abort()
        process.exitCode = await done
      },
    )
}

/** Commands that report faults of the configuration themselves, or need none. */
const reportsFaults = new Set(['config', 'doctor', 'completion'])

function addCheckCommands(command: Command, loaded: LoadedConfig): void {
  command
    .command('doctor')
    .description('check configuration and database, and print repairs')
    .option('--account <name>', "compare this account's stored totals with counts")
    .option('--all-tallies', "compare all accounts' stored totals with counts")
    .option('--repair', 'correct wrong stored totals')
    .addOption(processes('serving processes whose database connections to count'))
    .addOption(json())
    .action(async (options: Partial<DoctorOptions>) => {
      const { doctorCommand } = await import('./doctor/doctor-command.ts')
      const defaults = { allTallies: false, repair: false, json: false }
      process.exitCode = await doctorCommand(loaded, { ...defaults, ...options })
    })

  command
    .command('config')
    .description('print every setting with its value and origin, passwords masked')
    .addOption(json())
    .action(async (options: { json?: boolean }) => {
      const { configCommand } = await import('./config/config-command.ts')
      process.exitCode = configCommand(loaded, options)
    })
}
