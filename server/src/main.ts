import { configurationFaults } from './cli/configuration-faults.ts'
import { program } from './cli/program.ts'
import { loadConfig } from './config/config.ts'

/** Only this file reads the environment and sets the exit code of a failed command. */
async function main(): Promise<void> {
  const loaded = loadConfig(process.env)
  const faults = [...loaded.faults, ...configurationFaults(loaded.config)]
  await program({ ...loaded, faults }).parseAsync()
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
  // Otherwise a worker of `serve --processes` would wait for messages of its primary.
  process.channel?.unref()
}
