import type { Config } from '../../config/config.ts'
import { migrate } from '../../postgres/migrations/migrate.ts'
import { explainErrors, ownerUrl } from '../database/owner.ts'
import { note, printJson, printLine } from '../print.ts'

export async function migrateCommand(config: Config, options: { json?: boolean }): Promise<void> {
  const owner = ownerUrl(config)
  const applied = await explainErrors(owner, () => migrate(owner.url, { log: note }))
  if (options.json === true) {
    printJson({ applied })
  } else if (applied.length === 0) {
    printLine('The database is up to date.')
  } else {
    for (const name of applied) printLine(`applied ${name}`)
  }
}
