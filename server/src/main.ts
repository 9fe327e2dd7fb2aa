import { configurationFaults } from './cli/configuration-faults.ts'
import { parse, reportError } from './cli/parse.ts'
import { program } from './cli/program.ts'
import { loadConfig } from './config/config.ts'

/** Only this file reads the environment and sets the exit code of a failed command. */
async function main(): Promise<void> {
  const environment = process.env
  const loaded = { ...loadConfig(environment), reload: () => loadConfig(environment) }
  const faults = [...loaded.faults, ...configurationFaults(loaded.config)]
  await parse(program({ ...loaded, faults }))
}

// The reader of a pipe may exit first, as in `quartermaster account list | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

try {
  await main()
} catch (error) {
  process.exitCode = reportError(error, process.env['DEBUG'] !== undefined)
  // Otherwise a worker of `serve --processes` would wait for messages of its primary.
  process.channel?.unref()
}
