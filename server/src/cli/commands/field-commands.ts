import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { isOwnFieldName } from '../../catalog/own-fields.ts'
import { resources } from '../../catalog/resources.ts'
import type { Config } from '../../config/config.ts'
import { uniqueCandidates } from '../../fields/manage-fields.ts'
import { limits } from '../../limits/limits.ts'
import type { CreateFieldOptions, FieldOptions } from './field-command.ts'

const json = () => new Option('--json', 'print one line of JSON')
const account = () => new Option('--account <name>', 'name of the account (required)').makeOptionMandatory()
const label = () => new Option('--label <text>', 'what the field means, for people').argParser(parseLabel)

/** The commands about the fields of an account. Their module is imported when one of them runs. */
export function fieldCommands(config: Config): Command {
  const command = new Command('field').description('manage the fields that an account has declared')
  const commands = () => import('./field-command.ts')
  command
    .command('list')
    .description("list an account's fields")
    .addOption(account())
    .addOption(json())
    .action(async (options: FieldOptions) => (await commands()).fieldList(config, options))
  command
    .command('create')
    .description('declare a field, from the next request on')
    .addArgument(
      new Argument('<resource>', 'resource whose records get the field').choices(Object.keys(resources)),
    )
    .addArgument(new Argument('<name>', 'name, which begins with x_').argParser(parseName))
    .addArgument(
      new Argument('<type>', 'type of its values').choices([
        'text',
        'integer',
        'decimal',
        'boolean',
        'timestamp',
      ]),
    )
    .option('--unique', 'no two records have the same value; for texts and integers', false)
    .addOption(account())
    .addOption(label().default(''))
    .addOption(json())
    .action(async (resource, name, type, options: Omit<CreateFieldOptions, 'resource' | 'name' | 'type'>) =>
      (await commands()).fieldCreate(config, { ...options, resource, name, type }),
    )
  command
    .command('unique')
    .description('make a built-in field unique, and wait until its values are read')
    .addArgument(
      new Argument('<id>', 'field').choices(
        Object.values(resources).flatMap(({ name }) =>
          uniqueCandidates(name).map((field) => `${name}.${field}`),
        ),
      ),
    )
    .addOption(account())
    .addOption(json())
    .action(async (id, options: FieldOptions) => (await commands()).fieldUnique(config, id, options))
  command
    .command('label')
    .description('change the label of a field')
    .argument('<id>', 'field, such as product.x_barcode')
    .argument('<text>', 'what the field means, for people', parseLabel)
    .addOption(account())
    .addOption(json())
    .action(async (id, text, options: FieldOptions) =>
      (await commands()).fieldLabel(config, id, text, options),
    )
  command
    .command('delete')
    .description('delete a field and its values')
    .argument('<id>', 'field, such as product.x_barcode')
    .addOption(account())
    .addOption(json())
    .action(async (id, options: FieldOptions) => (await commands()).fieldDelete(config, id, options))
  return command
}

function parseName(text: string): string {
  if (isOwnFieldName(text)) return text
  throw new InvalidArgumentError(
    'It must begin with x_ and a lowercase letter, and have only a-z, 0-9 and _, at most 61 characters.',
  )
}

function parseLabel(text: string): string {
  if (Array.from(text).length <= limits.fieldLabelCharactersMax && !/\p{Cc}/u.test(text)) return text
  throw new InvalidArgumentError(
    `It must have at most ${limits.fieldLabelCharactersMax} characters, and no control character.`,
  )
}
