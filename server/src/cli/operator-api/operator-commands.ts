import { Command, InvalidArgumentError, Option } from 'commander'
import { type OperatorScope, operatorScopes } from '../../accounts/operators/tokens.ts'
import type { Config } from '../../config/config.ts'
import { integerBetween, parseExpiry } from '../arguments.ts'
import type { TokenCreateOptions } from './token-command.ts'

/** `operator serve` and `operator token`. */
export function operatorCommands(config: Config): Command {
  const json = () => new Option('--json', 'print one line of JSON')
  const command = new Command('operator').description('serve the operator API, and manage its tokens')
  command
    .command('serve')
    .description('serve the operator API on its own port, and run the deletions that are due')
    .addOption(
      new Option('--port <port>', 'port to listen on; 0 for any free port').argParser(
        integerBetween(0, 65_535),
      ),
    )
    .option('--host <address>', 'address to listen on')
    .action(async (options: { port?: number; host?: string }) => {
      const { operatorServe } = await import('./operator-serve-command.ts')
      await operatorServe(config, options)
    })
  const token = command.command('token').description('create, list and revoke operator tokens')
  token
    .command('create')
    .description('create an operator token, and print it this once')
    .requiredOption('--name <text>', 'name, such as its user (required)')
    .addOption(
      new Option('--scopes <list>', `scopes, separated by commas: ${operatorScopes.join(',')} (required)`)
        .argParser(parseOperatorScopes)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--expires <time>', 'a date such as 2027-01-01, or a number of days such as 90d')
        .argParser((text: string) => parseExpiry(text))
        .default(null, 'never'),
    )
    .option('--token-file <file>', 'store the token in this file instead, unless it is stored')
    .addOption(json())
    .action(async (options: TokenCreateOptions) => {
      const { tokenCreate } = await import('./token-command.ts')
      await tokenCreate(config, options)
    })
  token
    .command('list')
    .description('list operator tokens, newest first')
    .addOption(json())
    .action(async (options: { json?: boolean }) => {
      const { tokenList } = await import('./token-command.ts')
      await tokenList(config, options)
    })
  token
    .command('revoke <token-id>')
    .description('revoke an operator token, from the next call on')
    .addOption(json())
    .action(async (id: string, options: { json?: boolean }) => {
      const { tokenRevoke } = await import('./token-command.ts')
      await tokenRevoke(config, id, options)
    })
  return command
}

function parseOperatorScopes(text: string): OperatorScope[] {
  return text.split(',').map((part) => {
    const found = operatorScopes.find((scope) => scope === part.trim())
    if (found !== undefined) return found
    throw new InvalidArgumentError(
      `${JSON.stringify(part)} is not a scope. Scopes are ${operatorScopes.join(', ')}.`,
    )
  })
}
