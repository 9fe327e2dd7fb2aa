import { startThrowawayPostgres } from './database/throwaway-postgres.ts'
import { note, printJson, printLine } from './print.ts'
import { untilSignal } from './until-signal.ts'

/** With `--json` a program is on the other side: when it goes, its end of stdin closes, and the database goes too. */
export async function postgresCommand(options: {
  json?: boolean
  set: Record<string, string>
}): Promise<void> {
  const postgres = await startThrowawayPostgres(options.set)
  if (options.json === true) {
    printJson({ database_url: postgres.url })
  } else {
    printLine(postgres.url)
    note('A PostgreSQL of its own; all its data goes when it ends. Ctrl-C ends it.')
    note(`In another terminal: export DATABASE_URL=${postgres.url}`)
  }
  const parentGone = options.json === true && !process.stdin.isTTY ? [untilStdinCloses()] : []
  await untilSignal(...parentGone)
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
