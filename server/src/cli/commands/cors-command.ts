import { type Command, InvalidArgumentError, Option } from 'commander'
import { allowOrigins } from '../../accounts/account-changes.ts'
import { originFault } from '../../accounts/cors-origins.ts'
import { showAccount } from '../../accounts/directory.ts'
import { containsKey, containsKeyMessage } from '../../accounts/key-format.ts'
import type { Config } from '../../config/config.ts'
import { limits } from '../../limits/limits.ts'
import { asOwner } from '../database/owner.ts'
import { operator } from '../operator.ts'
import { printJson, printLine } from '../print.ts'

interface CorsOptions {
  readonly allow?: readonly string[]
  readonly none?: boolean
  readonly json?: boolean
}

/** `account cors`: replaces the list, or prints it without an option. */
export function addCorsCommand(command: Command, config: Config): void {
  const allow = new Option(
    '--allow <origin>',
    'allow this origin, such as https://shop.example.com; repeatable',
  )
  command
    .command('cors <name>')
    .description("show or replace the origins whose pages may use an account's API")
    .addOption(allow.argParser(collectOrigin))
    .addOption(new Option('--none', 'allow no origin').conflicts('allow'))
    .addOption(new Option('--json', 'print one line of JSON'))
    .action((name: string, options: CorsOptions) => accountCors(config, name, options))
}

async function accountCors(config: Config, name: string, options: CorsOptions): Promise<void> {
  const { allow = options.none === true ? [] : undefined } = options
  const origins = await asOwner(config, async (client) => {
    if (allow !== undefined) await allowOrigins(client, operator(), name, allow)
    return (await showAccount(client, name)).corsOrigins
  })
  if (options.json === true) printJson({ cors_origins: origins })
  else printLine(originsLine(origins))
}

export function originsLine(origins: readonly string[]): string {
  return `origins of browsers: ${origins.length === 0 ? 'none' : origins.join(', ')}`
}

function collectOrigin(text: string, previous: readonly string[] = []): readonly string[] {
  if (containsKey(text)) throw new InvalidArgumentError(`It ${containsKeyMessage}`)
  const fault = originFault(text)
  if (fault !== undefined) {
    const meant = fault.suggestion === undefined ? '' : ` Did you mean ${fault.suggestion}?`
    throw new InvalidArgumentError(`It ${fault.message}${meant}`)
  }
  if (previous.includes(text)) throw new InvalidArgumentError('It occurs more than once.')
  if (previous.length === limits.corsOriginsMax)
    throw new InvalidArgumentError(`At most ${limits.corsOriginsMax} origins can be allowed.`)
  return [...previous, text]
}
