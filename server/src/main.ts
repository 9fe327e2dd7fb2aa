import { invalidUrls } from './cli/database/invalid-urls.ts'
import { configurationFaults, reportInvalidConfiguration } from './cli/doctor/checks/configuration.ts'
import { program } from './cli/program.ts'
import { type Config, readConfig } from './config.ts'

/** Only this file reads the environment and sets the exit code of a failed command. */
async function main(): Promise<void> {
  const config = configuration()
  if (config !== undefined) await program(config).parseAsync()
}

function configuration(): Config | undefined {
  const config = validConfiguration()
  if (config === undefined || process.argv[2] === 'doctor') return config
  const [invalid] = invalidUrls(config)
  if (invalid === undefined) return config
  throw new Error(`Invalid configuration: ${invalid.message} ${invalid.repair}`)
}

function validConfiguration(): Config | undefined {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (process.argv[2] !== 'doctor') {
      const messages = configurationFaults(error).map(({ message }) => message)
      throw new Error(`Invalid configuration: ${messages.join(' ')}`, { cause: error })
    }
    process.exitCode = reportInvalidConfiguration(error, process.argv.includes('--json'))
    return undefined
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('code' in error && error.code === 'EADDRINUSE') {
    return `${error.message}. Stop the process that listens there, or choose another --port or QUARTERMASTER_ADMIN_PORT (0 for any free port).`
  }
  return error.message
}

// The reader of a pipe may exit first, as in `quartermaster account list | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

try {
  await main()
} catch (error) {
  const debug = process.env['DEBUG'] !== undefined
  console.error(debug ? error : `quartermaster: ${messageOf(error)}`)
  process.exitCode = 1
}
