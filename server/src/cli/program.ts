import { Argument, Command, Option } from 'commander'
import { type ResourceName, resources } from '../catalog/resources.ts'
import type { Config } from '../config.ts'
import { limits } from '../limits.ts'
import { version } from '../version.ts'
import {
  accountActivate,
  accountCreate,
  accountLimit,
  accountList,
  accountShow,
  accountSuspend,
} from './account-command.ts'
import {
  collectSetting,
  integerBetween,
  parseExpiry,
  parseOverlap,
  parsePerMinute,
  parseScopes,
} from './arguments.ts'
import { ownerUrl } from './database/owner.ts'
import { defaultScopes, keyCreate, keyList, keyRevoke, keyRotate } from './key-command.ts'

const json = () => new Option('--json', 'print JSON')
const account = () => new Option('--account <name>', 'the account').makeOptionMandatory()
const port = () => new Option('--port <port>', 'the port; 0 takes any').argParser(integerBetween(0, 65_535))
const expiry = () =>
  new Option('--expires <when>', 'a date such as 2027-01-01, or 90d').argParser((text: string) =>
    parseExpiry(text),
  )
const listLimit = () =>
  new Option('--limit <count>', 'how many at most')
    .argParser(integerBetween(1, limits.commandRowsMax))
    .default(limits.commandRowsDefault)

/** All commands. What weighs much, or is seldom used, is loaded when it is called. */
export function program(config: Config): Command {
  const command = new Command('quartermaster')
    .description('The ERP query service: products, partners and companies of many accounts, listed exactly.')
    .version(version)
    .showHelpAfterError('(--help shows what there is)')
  serving(command, config)
  command.addCommand(accounts(config))
  command.addCommand(keys(config))
  exporting(command, config)
  operating(command, config)
  return command
}

function serving(command: Command, config: Config): void {
  command
    .command('serve')
    .description('serve requests')
    .addOption(port())
    .option('--host <address>', 'the address to listen at')
    .action(async (options: { port?: number; host?: string }) => {
      const { serve } = await import('./serve-command.ts')
      await serve(config, options)
    })

  command
    .command('demo')
    .description(
      'serve an account full of made-up data; brings a database along where DATABASE_URL is not set',
    )
    .option('--products <count>', 'how many products', integerBetween(0, 10_000_000), 10_000)
    .addOption(port().default(8080))
    .option('--account <name>', 'the name of the account', 'acme')
    .addOption(json())
    .action(async (options: { products: number; port: number; account: string; json?: boolean }) => {
      const { demoCommand } = await import('./demo/demo-command.ts')
      await demoCommand(config, options)
    })
}

function accounts(config: Config): Command {
  const command = new Command('account').description('make accounts, look at them, suspend them')
  command
    .command('create <name>')
    .description('make an account; its name is the first label of its host')
    .addOption(json())
    .action((name, options) => accountCreate(config, name, options))
  command
    .command('list')
    .description('list accounts by name')
    .option('--after <name>', 'those after this name', '')
    .addOption(listLimit())
    .addOption(json())
    .action((options) => accountList(config, options))
  command
    .command('show <name>')
    .description('show the status, the keys and the tallies of an account')
    .addOption(json())
    .action((name, options) => accountShow(config, name, options))
  command
    .command('limit <name>')
    .description('set how many requests an account and each of its keys may send in a minute')
    .option('--requests <count>', "of the account; or 'default'", parsePerMinute)
    .option('--key-requests <count>', "of each key; or 'default'", parsePerMinute)
    .addOption(json())
    .action((name, options) => accountLimit(config, name, options))
  command
    .command('suspend <name>')
    .description('refuse all keys of an account; its data stays')
    .addOption(json())
    .action((name, options) => accountSuspend(config, name, options))
  command
    .command('activate <name>')
    .description('let a suspended account work again')
    .addOption(json())
    .action((name, options) => accountActivate(config, name, options))
  return command
}

function keys(config: Config): Command {
  const command = new Command('key').description('make, list, rotate and revoke the API keys of an account')
  command
    .command('create')
    .description('make a key and show it, once')
    .addOption(account())
    .requiredOption('--name <text>', 'what it is for')
    .addOption(
      new Option('--scopes <list>', 'what it may do, separated by commas')
        .argParser(parseScopes)
        .default(defaultScopes, defaultScopes.join(',')),
    )
    .addOption(expiry().default(null, 'never'))
    .addOption(json())
    .action((options) => keyCreate(config, options))
  command
    .command('list')
    .description('list the keys of an account, newest first')
    .addOption(account())
    .addOption(listLimit())
    .addOption(json())
    .action((options) => keyList(config, options))
  command
    .command('rotate <key-id>')
    .description('make a new key of the same name and scopes in place of one, and show it, once')
    .addOption(account())
    .addOption(
      new Option('--overlap <time>', 'how long the old key goes on: 7d, 12h, 30m; 0 revokes it at once')
        .argParser(parseOverlap)
        .makeOptionMandatory(),
    )
    .addOption(expiry().default(undefined, 'as long as the old key was made to live'))
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
  replace: boolean
  rejects?: string
  format?: 'csv' | 'ndjson'
  json: boolean
}

function exporting(command: Command, config: Config): void {
  command
    .command('export')
    .description('write all records of an account that match, of one state, to stdout')
    .addArgument(new Argument('<resource>', 'what the records are').choices(Object.keys(resources)))
    .addOption(account())
    .option('--filter <filter>', 'which of them, in the filter language')
    .option('--fields <names>', 'their fields, separated by commas; all if not given')
    .addOption(
      new Option('--format <format>', 'how they are written').choices(['ndjson', 'csv']).default('ndjson'),
    )
    .action(
      async (
        resource: ResourceName,
        options: { account: string; filter?: string; fields?: string; format: 'ndjson' | 'csv' },
      ) => {
        const { exportCommand } = await import('./export-command.ts')
        // Until it is all out, it is cut: also when whoever reads it goes away first.
        process.exitCode = 1
        const { stdout, stderr } = process
        const { url } = ownerUrl(config)
        process.exitCode = await exportCommand({ ownerUrl: url, resource, ...options, stdout, stderr })
      },
    )
}

function operating(command: Command, config: Config): void {
  command
    .command('migrate')
    .description('bring the database up to date')
    .addOption(json())
    .action(async (options: { json?: boolean }) => {
      const { migrateCommand } = await import('./migrate-command.ts')
      await migrateCommand(config, options)
    })

  command
    .command('import')
    .description('read records of an account from a file')
    .addArgument(new Argument('<resource>', 'what the records are').choices(Object.keys(resources)))
    .argument('<file>', 'CSV or NDJSON; - is stdin')
    .addOption(account())
    .option('--replace', 'delete what the file does not have', false)
    .option('--rejects <file>', 'where rows that are refused are written')
    .addOption(
      new Option('--format <format>', 'told by the name of the file if not given').choices(['csv', 'ndjson']),
    )
    .addOption(json().default(false))
    .action(async (resource: ResourceName, file: string, options: ImportOptions) => {
      const { importCommand } = await import('./import/import-command.ts')
      const { stdout, stderr } = process
      process.exitCode = await importCommand({
        ownerUrl: ownerUrl(config).url,
        resource,
        file,
        ...options,
        stdout,
        stderr,
      })
    })

  command
    .command('doctor')
    .description('say what is wrong with the configuration and the database, and how to repair it')
    .option('--account <name>', 'hold the tallies of this account against real counts')
    .option('--all-tallies', 'hold the tallies of all accounts against real counts', false)
    .option('--repair', 'correct the tallies that are off', false)
    .addOption(json().default(false))
    .action(async (options: { account?: string; allTallies: boolean; repair: boolean; json: boolean }) => {
      const { doctorCommand } = await import('./doctor/doctor-command.ts')
      process.exitCode = await doctorCommand(config, options)
    })

  command
    .command('postgres')
    .description(
      'start a throw-away PostgreSQL for development and tests; with --json it ends when stdin does',
    )
    .option('-c, --set <name=value>', 'a setting of PostgreSQL', collectSetting, {})
    .addOption(json())
    .action(async (options: { json?: boolean; set: Record<string, string> }) => {
      const { postgresCommand } = await import('./postgres-command.ts')
      await postgresCommand(options)
    })
}
