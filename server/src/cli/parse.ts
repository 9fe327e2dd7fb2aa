import { type Command, CommanderError } from 'commander'
import { type CommandFailure, commandFailure, exitCodes } from './command-error.ts'

/** With --json, errors are JSON, too: one line on stderr. */
const isJson = () => process.argv.includes('--json')

/** Parses the command line and runs its command. Errors in it are thrown, so that `reportError` chooses the exit code. */
export async function parse(program: Command): Promise<void> {
  throwErrors(program)
  await program.parseAsync()
}

function throwErrors(command: Command): void {
  command.exitOverride()
  if (isJson()) command.configureOutput({ writeErr: () => {} })
  for (const one of command.commands) throwErrors(one)
}

/** Prints the error, and returns the exit code. */
export function reportError(error: unknown, isDebug: boolean): number {
  if (error instanceof CommanderError) return reportUsage(error)
  const failure = commandFailure(error)
  if (isDebug) console.error(error)
  else if (isJson()) printFailure(failure)
  else console.error(`quartermaster: ${failure.message}`)
  return failure.exitCode
}

/** Commander has printed the message, or the help that was asked for. */
function reportUsage({ exitCode, message }: CommanderError): number {
  if (exitCode === 0) return 0
  const text = message.replace(/^error: /, '')
  if (isJson()) printFailure({ code: 'usage', message: text, exitCode: exitCodes.usage })
  return exitCodes.usage
}

function printFailure({ code, message }: CommandFailure): void {
  console.error(JSON.stringify({ error: { code, message } }))
}
