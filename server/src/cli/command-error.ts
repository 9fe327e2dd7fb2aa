import { Failure } from '../errors/errors.ts'
import { statusOf } from '../http/problem.ts'

/** The exit code of a command that fails. A program can decide by it what to do. `import` ends with 2 if rows were rejected. */
export const exitCodes = {
  failed: 1,
  not_found: 3,
  exists: 4,
  unavailable: 5,
  refused: 6,
  usage: 64,
} as const

/** An error of the command line that no request has. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError'
  readonly code: 'usage' | 'failed' | 'database_unavailable'

  constructor(code: CommandError['code'], message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** The command line is wrong. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError'

  constructor(message: string) {
    super('usage', message)
  }
}

export interface CommandFailure {
  /** As in the responses of the API, or `usage`, `failed`. */
  readonly code: string
  readonly message: string
  readonly exitCode: number
}

export function commandFailure(error: unknown): CommandFailure {
  if (error instanceof Failure) {
    const hint = error.code === 'account_unknown' ? ' `quartermaster account list` lists the accounts.' : ''
    return { code: error.code, message: `${error.message}${hint}`, exitCode: exitOf(error) }
  }
  const message = messageOf(error)
  if (!(error instanceof CommandError)) return { code: 'failed', message, exitCode: exitCodes.failed }
  const { code } = error
  const exitCode = code === 'database_unavailable' ? exitCodes.unavailable : exitCodes[code]
  return { code, message, exitCode }
}

function exitOf({ code }: Failure): number {
  if (code === 'account_exists' || code === 'account_name_retired' || code === 'field_exists')
    return exitCodes.exists
  const status = statusOf[code]
  if (status === 400) return exitCodes.usage
  if (status === 404) return exitCodes.not_found
  if (status === 503 || status === 504) return exitCodes.unavailable
  return status === 500 ? exitCodes.failed : exitCodes.refused
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('code' in error && error.code === 'EADDRINUSE') {
    return `${error.message}. Stop the process that listens there, or choose another --port or QUARTERMASTER_ADMIN_PORT (0 for any free port).`
  }
  return error.message
}
