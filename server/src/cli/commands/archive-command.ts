import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DatabaseError } from 'pg'
import { accountNamed } from '../../accounts/directory.ts'
import { ArchiveError } from '../../archive/archive-format.ts'
import { type ExportProgress, exportAccount } from '../../archive/export-account.ts'
import { type RestoredAccount, restoreAccount } from '../../archive/restore-account.ts'
import { resources } from '../../catalog/resources.ts'
import { ImportError } from '../../import/columns.ts'
import { withClient } from '../../postgres/client.ts'
import { databaseFault } from '../database/database-fault.ts'
import { openInput } from '../import/input.ts'
import { operator } from '../operator.ts'
import { grouped, type Output, perSecond, showProgress } from '../progress.ts'
import { auditRead } from './audited-read.ts'

interface Streams {
  readonly stdin: Readable
  readonly stdout: Writable & { readonly isTTY?: boolean }
  readonly stderr: Output
}

/** Returns the exit code. 0: the archive is complete; 1: the export failed, and the output, if any, is truncated. */
export async function accountExport(
  url: string,
  name: string,
  { stdout, stderr }: Omit<Streams, 'stdin'>,
): Promise<number> {
  const start = performance.now()
  const progress: ExportProgress = { rows: 0, records: undefined }
  try {
    if (stdout.isTTY === true)
      throw new Error(`Redirect the output to a file: quartermaster account export ${name} > ${name}.ndjson`)
    await withClient(url, async (client) => {
      const endProgress = showProgress(stderr, 'rows', () => ({
        done: progress.rows,
        fraction:
          progress.records === undefined
            ? undefined
            : Math.min(1, progress.rows / Math.max(1, progress.records)),
      }))
      try {
        const scope = await accountNamed(client, name)
        await auditRead(client, scope, { subject: name, details: 'archive' }, stderr)
        await pipeline(Readable.from(exportAccount(client, name, progress)), stdout, { end: false })
      } finally {
        endProgress()
      }
    })
  } catch (error) {
    const hint = progress.rows > 0 ? ' The output is incomplete: run the command again.' : ''
    stderr.write(`quartermaster: ${reasonOf(error, url)}${hint}\n`)
    return 1
  }
  const seconds = (performance.now() - start) / 1000
  stderr.write(
    `${grouped(progress.rows)} rows in ${seconds.toFixed(1)} s (${grouped(perSecond(progress.rows, seconds))}/s)\n`,
  )
  return 0
}

export interface RestoreParameters {
  readonly name: string | undefined
  readonly replace: boolean
  readonly keys: boolean
  readonly json: boolean
}

/** Returns the exit code. 0: the account is restored; 1: the restore failed, and nothing was changed. */
export async function accountRestore(
  url: string,
  file: string,
  { name, replace, keys, json }: RestoreParameters,
  { stdin, stdout, stderr }: Streams,
): Promise<number> {
  const start = performance.now()
  let rows = 0
  try {
    const input = await openInput(file, 'ndjson', stdin)
    const restored = await withClient(url, async (client) => {
      const endProgress = showProgress(stderr, 'rows', () => ({
        done: rows,
        fraction:
          input.bytesTotal === undefined ? undefined : input.bytesRead() / Math.max(1, input.bytesTotal),
      }))
      try {
        return await restoreAccount({
          client,
          actor: operator(),
          bytes: input.bytes,
          name,
          replace,
          withKeys: keys,
          onRows: (count) => {
            rows += count
          },
        })
      } finally {
        endProgress()
      }
    })
    stdout.write(json ? `${JSON.stringify(jsonOf(restored))}\n` : `${textOf(restored)}\n`)
  } catch (error) {
    stderr.write(`quartermaster: ${reasonOf(error, url)} ${effectOf(error, rows)}\n`)
    return 1
  }
  const seconds = (performance.now() - start) / 1000
  stderr.write(`${grouped(rows)} rows in ${seconds.toFixed(1)} s (${grouped(perSecond(rows, seconds))}/s)\n`)
  return 0
}

/** If the connection was lost, the transaction may have been committed. */
function effectOf(error: unknown, rows: number): string {
  const isRolledBack = [ArchiveError, ImportError, DatabaseError].some((kind) => error instanceof kind)
  if (isRolledBack || rows === 0) return 'Nothing was changed.'
  return 'The account was restored either completely or not at all: see quartermaster account show.'
}

function textOf({ name, replaced, exportedAt, keys, records }: RestoredAccount): string {
  const counts = Object.values(resources).map(
    (resource) => `${grouped(records[resource.name])} ${resource.plural}`,
  )
  return `${name}: ${replaced ? 'replaced' : 'restored'}, as exported at ${exportedAt}: ${counts.join(', ')}, ${grouped(keys)} keys added`
}

function jsonOf({ name, replaced, exportedAt, keys, records }: RestoredAccount) {
  return { name, replaced, exported_at: exportedAt, keys_added: keys, records }
}

function reasonOf(error: unknown, url: string): string {
  const fault = databaseFault(error, url, 'DATABASE_OWNER_URL')
  if (fault !== undefined) return `${fault.message} ${fault.repair}`
  if (error instanceof DatabaseError) return `PostgreSQL reports: ${error.message}.`
  return error instanceof Error ? error.message : String(error)
}
