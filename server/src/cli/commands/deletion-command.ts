import {
  type Deletion,
  deletionJson,
  dueStatement,
  recentStatement,
} from '../../accounts/lifecycle/deletion.ts'
import { recheckDeleted, runDeletion } from '../../accounts/lifecycle/run-deletion.ts'
import { runOn } from '../../accounts/lifecycle/run-on.ts'
import { scheduleDeletion } from '../../accounts/lifecycle/schedule-deletion.ts'
import type { Config } from '../../config/config.ts'
import type { Connection } from '../../postgres/connection.ts'
import { inTransaction } from '../../postgres/transaction.ts'
import { UsageError } from '../command-error.ts'
import { asOwner } from '../database/owner.ts'
import { operator } from '../operator.ts'
import { formatTime, note, printJson, printLine, printTable } from '../print.ts'
import { grouped, showProgress } from '../progress.ts'
import { untilSignal } from '../until-signal.ts'
import type { JsonOption } from './account-command.ts'

export interface DeleteOptions extends JsonOption {
  readonly grace: number
  readonly now?: boolean
  readonly yes?: string
}

export async function accountDelete(config: Config, name: string, options: DeleteOptions): Promise<void> {
  const isNow = options.now === true
  if (isNow && options.yes !== name) {
    throw new UsageError(
      `This deletes ${name} with everything that it has. To confirm it, add --yes ${name}.`,
    )
  }
  const deletion = await asOwner(config, async (client) => {
    const scheduled = await inTransaction(client, (transaction) =>
      scheduleDeletion(transaction, operator(), name, isNow ? 0 : options.grace),
    )
    return isNow ? await deleteWithProgress(client, scheduled) : scheduled
  })
  printDeletion(deletion, options)
}

/** Also deletes rows that processes have written after an account was deleted. */
export async function accountPurge(config: Config, options: JsonOption): Promise<void> {
  const deletions = await asOwner(config, async (client) => {
    for (const recent of await runOn(client)<Deletion>(recentStatement())) {
      const rows = await recheckDeleted(client, recent)
      if (rows > 0) note(`${recent.name}: ${rows} rows that were written after its deletion are deleted.`)
    }
    const ended: Deletion[] = []
    for (const due of await runOn(client)<Deletion>(dueStatement()))
      ended.push(await deleteWithProgress(client, due))
    return ended
  })
  if (options.json === true) printJson({ deletions: deletions.map(deletionJson) })
  else if (deletions.length === 0) note('No deletion is due.')
  else for (const deletion of deletions) printDeletion(deletion, options)
}

/** SIGINT and SIGTERM end it after a step. The same command, or `account purge`, continues it. */
async function deleteWithProgress(client: Connection, { name }: Deletion): Promise<Deletion> {
  let rows = 0
  let table = ''
  const end = showProgress(process.stderr, 'rows deleted', () => ({ done: rows, note: `${name}: ${table}` }))
  const stop = new AbortController()
  const running = runDeletion(client, name, {
    stop: stop.signal,
    onStep: (step) => {
      rows += step.rows
      table = step.table
    },
  })
  try {
    const ended = () => undefined
    const signal = await untilSignal(running.then(ended, ended))
    if (signal !== undefined) stop.abort()
    return await running
  } finally {
    end()
  }
}

function printDeletion(deletion: Deletion, { json = false }: JsonOption): void {
  if (json) {
    printJson(deletionJson(deletion))
    return
  }
  const { name, state, dueAt, endedAt, counts } = deletion
  if (state === 'scheduled') {
    printLine(`${name}: suspended; it will be deleted after ${formatTime(dueAt)}`)
    note(
      `To cancel: quartermaster account activate ${name}. To delete what is due: quartermaster account purge`,
    )
    return
  }
  if (state === 'deleting') {
    printLine(`${name}: its deletion is interrupted`)
    note(`To continue: quartermaster account delete ${name} --now --yes ${name}`)
  } else printLine(`${name}: deleted at ${formatTime(endedAt)}`)
  const tables = Object.keys(counts).toSorted()
  const rows = tables.map((table) => [table, grouped(counts[table] ?? 0)])
  if (rows.length > 0) printTable(['TABLE', 'ROWS'], rows)
}
