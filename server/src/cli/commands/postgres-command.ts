import { installedOrEmbeddedPostgres } from '../database/embedded-postgres.ts'
import { startTemporaryPostgres } from '../database/temporary-postgres.ts'
import { note, printJson, printLine } from '../print.ts'
import { untilSignal } from '../until-signal.ts'

/** With `--json` the caller is a program. If it exits, stdin closes, and PostgreSQL is stopped. */
export async function postgresCommand(options: {
  json?: boolean
  set: Record<string, string>
}): Promise<void> {
  const postgres = await startTemporaryPostgres(options.set, await installedOrEmbeddedPostgres())
  if (options.json === true) {
    printJson({ database_url: postgres.url })
  } else {
    printLine(postgres.url)
    note('Press Ctrl-C to stop this PostgreSQL and delete its data.')
    note(`In another terminal: export DATABASE_URL=${postgres.url}`)
  }
  const parentExit = options.json === true && !process.stdin.isTTY ? [untilStdinCloses()] : []
  await untilSignal(...parentExit)
  await postgres.stop()
  process.stdin.destroy()
}

function untilStdinCloses(): Promise<void> {
  return new Promise((resolve) => {
    process.stdin
      .once('close', resolve)
      .once('end', resolve)
      .once('error', () => resolve())
    process.stdin.resume()
  })
}
