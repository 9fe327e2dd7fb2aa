import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { DatabaseError } from 'pg'
import { accountNamed } from '../../accounts/directory.ts'
import { type ResourceName, resources } from '../../catalog/resources.ts'
import { ImportError } from '../../import/columns.ts'
import { csvRows } from '../../import/csv.ts'
import { type ImportTotals, importRows, noTotals } from '../../import/import-rows.ts'
import { ndjsonRows } from '../../import/ndjson.ts'
import { RejectFile } from '../../import/rejects.ts'
import { type ImportFormat, openSource, type Source } from '../../import/source.ts'
import { withClient } from '../../postgres/client.ts'
import { databaseFault } from '../database/database-fault.ts'
import { grouped, type Output, showProgress } from '../progress.ts'
import { summaryJson, summaryText } from './summary.ts'

export interface ImportOptions {
  readonly ownerUrl: string
  readonly account: string
  readonly resource: ResourceName
  /** `-` is standard input, which needs a format. */
  readonly file: string
  readonly format?: ImportFormat | undefined
  readonly replace: boolean
  readonly rejects?: string | undefined
  readonly json: boolean
  readonly stdout: Output
  readonly stderr: Output
  readonly stdin?: Readable
}

/** 0: all of the file is in the database; 2: all but the rows in the reject file; 1: it went wrong. */
export async function importCommand(options: ImportOptions): Promise<number> {
  const { stdout, stderr } = options
  const start = performance.now()
  const totals = noTotals()
  const rejects = new RejectFile(options.rejects ?? defaultRejects(options.file))
  try {
    await importFile(options, totals, rejects)
  } catch (error) {
    stderr.write(`quartermaster: ${failureText(error, options, totals)}\n`)
    return 1
  } finally {
    rejects.close()
  }
  const seconds = (performance.now() - start) / 1000
  const rejectsPath = totals.rejected > 0 ? rejects.path : undefined
  stdout.write(options.json ? summaryJson(totals, seconds, rejectsPath) : summaryText(totals, seconds))
  if (rejectsPath === undefined) return 0
  stderr.write(`quartermaster: ${rejectedText(totals.rejected, rejectsPath, options.replace)}\n`)
  return 2
}

async function importFile(options: ImportOptions, totals: ImportTotals, rejects: RejectFile): Promise<void> {
  if (resolve(rejects.path) === resolve(options.file)) {
    throw new ImportError('The rejects would overwrite the file that is imported. Name another one.')
  }
  const source = await openSource(options.file, options.format, options.stdin ?? process.stdin)
  const resource = resources[options.resource]
  await withClient(options.ownerUrl, async (client) => {
    const scope = await accountNamed(client, options.account)
    const endProgress = showProgress(options.stderr, 'rows', () => ({
      done: totals.read,
      fraction: fractionOf(source),
      note: totals.rejected > 0 ? `${grouped(totals.rejected)} rejected` : '',
    }))
    try {
      await importRows({
        client,
        scope,
        resource,
        chunks:
          source.format === 'csv' ? csvRows(resource, source.bytes) : ndjsonRows(resource, source.bytes),
        replace: options.replace,
        totals,
        onFaults: (faults) => rejects.add(faults),
      })
    } finally {
      endProgress()
    }
  })
}

function fractionOf(source: Source): number | undefined {
  if (source.bytesAll === undefined) return undefined
  return source.bytesAll === 0 ? 1 : Math.min(1, source.bytesRead() / source.bytesAll)
}

function defaultRejects(file: string): string {
  return `${file === '-' ? 'import' : file}.rejects.csv`
}

function rejectedText(rejected: number, path: string, replace: boolean): string {
  return `${were(rejected, 'row')} rejected: see ${path}.${replace ? ' Nothing was deleted because of that.' : ''}`
}

function failureText(error: unknown, { ownerUrl, replace }: ImportOptions, totals: ImportTotals): string {
  const reason = reasonOf(error, ownerUrl)
  const written = totals.inserted + totals.updated
  if (written + totals.deleted === 0) return reason
  const deleted = totals.deleted === 0 ? 'nothing was' : were(totals.deleted, 'record')
  return (
    `${reason} Before that, ${were(written, 'row')} written${replace ? ` and ${deleted} deleted` : ''}. ` +
    'Run the same command again when it is mended: no row is written twice.'
  )
}

function were(count: number, noun: string): string {
  return count === 1 ? `1 ${noun} was` : `${grouped(count)} ${noun}s were`
}

function reasonOf(error: unknown, url: string): string {
  const fault = databaseFault(error, url, 'DATABASE_OWNER_URL')
  if (fault !== undefined) return `${fault.message} ${fault.repair}`
  if (error instanceof DatabaseError) return `PostgreSQL says: ${error.message}.`
  return error instanceof Error ? error.message : String(error)
}
