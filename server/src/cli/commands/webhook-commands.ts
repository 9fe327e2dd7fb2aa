import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { resources } from '../../catalog/resources.ts'
import type { Config } from '../../config/config.ts'
import type { Start } from '../../webhooks/endpoints.ts'
import type { CreateWebhookOptions, WebhookOptions } from './webhook-command.ts'

const json = () => new Option('--json', 'print one line of JSON')
const account = () => new Option('--account <name>', 'name of the account (required)').makeOptionMandatory()
const since = () =>
  new Option('--since <start>', 'now, beginning, a version, or a cursor of the change feed').argParser(
    parseStart,
  )

/** The commands about webhooks. Their module is imported when one of them runs. */
export function webhookCommands(config: Config): Command {
  const command = new Command('webhook').description("manage an account's webhooks")
  const commands = () => import('./webhook-command.ts')
  command
    .command('list')
    .description("list an account's webhooks")
    .addOption(account())
    .addOption(json())
    .action(async (options: WebhookOptions) => (await commands()).webhookList(config, options))
  command
    .command('create')
    .description('create a webhook, and print its secret; it sends nothing until resumed')
    .addArgument(
      new Argument('<resource>', 'resource whose changes are sent').choices(Object.keys(resources)),
    )
    .argument('<url>', "the receiver's https:// URL")
    .addOption(account())
    .option('--filter <filter>', 'only records that match (default: all)')
    .option('--fields <names>', 'fields, separated by commas (default: all)')
    .addOption(since().default('now'))
    .addOption(json())
    .action(async (resource, url, options: Omit<CreateWebhookOptions, 'resource' | 'url'>) =>
      (await commands()).webhookCreate(config, { ...options, resource, url }),
    )
  addChanges(command, config)
  return command
}

function addChanges(command: Command, config: Config): void {
  const commands = () => import('./webhook-command.ts')
  const add = (name: string, description: string) =>
    command.command(`${name} <id>`).description(description).addOption(account()).addOption(json())
  add('pause', 'stop sending until resumed, from the same position').action(async (id, options) =>
    (await commands()).webhookPause(config, id, options),
  )
  add('resume', 'activate a webhook if its receiver returns a challenge').action(async (id, options) =>
    (await commands()).webhookResume(config, id, options),
  )
  add('rotate', 'create and print a new secret; the old one keeps signing for 24 hours').action(
    async (id, options) => (await commands()).webhookRotate(config, id, options),
  )
  add('replay', 'send changes again, from another position')
    .addOption(since().makeOptionMandatory())
    .action(async (id, options) => (await commands()).webhookReplay(config, id, options))
  add('test', 'send a test message; exits with 1 if it is not accepted').action(async (id, options) => {
    process.exitCode = await (await commands()).webhookTest(config, id, options)
  })
  add('delete', 'delete a webhook').action(async (id, options) =>
    (await commands()).webhookDelete(config, id, options),
  )
}

function parseStart(text: string): Start {
  if (text === 'now' || text === 'beginning') return text
  if (/^\d{1,15}$/.test(text)) return { version: Number(text) }
  if (text === '') throw new InvalidArgumentError('It must be now, beginning, a version or a cursor.')
  return { cursor: text }
}
