import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { DatabaseError } from 'pg'
import { accountNamed } from '../../accounts/directory.ts'
import { type KeyField, keyFieldsOf } from '../../catalog/own-fields.ts'
import { type Resource, type ResourceName, resources } from '../../catalog/resources.ts'
import { type DefinitionsRow, readDefinitions } from '../../fields/definitions.ts'
import { ImportError } from '../../import/columns.ts'
import { csvRows } from '../../import/csv.ts'
import type { ImportFormat } from '../../import/decode.ts'
import { type ImportTotals, importRows, type MaxDelete, noTotals } from '../../import/import-rows.ts'
import { ndjsonRows } from '../../import/ndjson.ts'
import type { RowResource } from '../../import/row-resource.ts'
import { limits } from '../../limits/limits.ts'
import { withClient } from '../../postgres/client.ts'
import { databaseFault } from '../database/database-fault.ts'
import { operator } from '../operator.ts'
import { grouped, type Output, showProgress } from '../progress.ts'
import { type ImportInput, openInput } from './input.ts'
import { RejectFile } from './reject-file.ts'
import { summaryJson, summaryText } from './summary.ts'

export interface ImportOptions {
  readonly ownerUrl: string
  readonly account: string
  readonly resource: ResourceName
  /** `-` is standard input, which requires `format`. */
  readonly file: string
  readonly format?: ImportFormat | undefined
  readonly replace: boolean
  readonly mode?: 'upsert' | 'update' | 'insert' | undefined
  /** The unique field by which rows name their records. */
  readonly key?: string | undefined
  readonly maxDelete?: MaxDelete | undefined
  readonly dryRun?: boolean | undefined
  readonly rejects?: string | undefined
  readonly json: boolean
  readonly stdout: Output
  readonly stderr: Output
  readonly stdin?: Readable
}

/** Returns the exit code. 0: every row was imported; 2: all except the rejected rows; 1: the import failed. */
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
  if (options.dryRun === true) stderr.write('quartermaster: Dry run: nothing was written.\n')
  stdout.write(options.json ? summaryJson(totals, seconds, rejectsPath) : summaryText(totals, seconds))
  if (totals.idsNow !== undefined) stderr.write(`quartermaster: ${externalText(options)}\n`)
  if (rejectsPath === undefined) return 0
  stderr.write(`quartermaster: ${rejectedText(totals.rejected, rejectsPath, options.replace)}\n`)
  return 2
}

async function importFile(options: ImportOptions, totals: ImportTotals, rejects: RejectFile): Promise<void> {
  if (resolve(rejects.path) === resolve(options.file)) {
    throw new ImportError('The reject file would overwrite the imported file. Pass another --rejects file.')
  }
  checkCombination(options)
  const input = await openInput(options.file, options.format, options.stdin ?? process.stdin)
  await withClient(options.ownerUrl, async (client) => {
    const scope = await accountNamed(client, options.account)
    const { resource: own } = await readDefinitions(
      (statement) => client.read<DefinitionsRow>(statement),
      scope,
      options.resource,
    )
    const resource: RowResource = { ...own, rowKey: rowKeyOf(own, options.key) }
    const endProgress = showProgress(options.stderr, 'rows', () => ({
      done: totals.read,
      fraction: fractionOf(input),
      note: totals.rejected > 0 ? `${grouped(totals.rejected)} rejected` : '',
    }))
    try {
      await importRows({
        client,
        scope,
        resource,
        chunks: input.format === 'csv' ? csvRows(resource, input.bytes) : ndjsonRows(resource, input.bytes),
        replace: options.replace,
        mode: options.mode ?? 'upsert',
        actor: operator(),
        file: options.file,
        dryRun: options.dryRun === true,
        ...(options.maxDelete === undefined ? {} : { maxDelete: options.maxDelete }),
        totals,
        onFaults: (faults) => rejects.add(faults),
      })
    } finally {
      endProgress()
    }
  })
}

function rowKeyOf(resource: Resource, key: string | undefined): KeyField | undefined {
  if (key === undefined) return undefined
  const fields = keyFieldsOf(resource).filter((field) => field.key.isReady)
  const found = fields.find(({ name }) => name === key)
  if (found !== undefined) return found
  const names = fields.length === 0 ? 'has none' : `are ${fields.map(({ name }) => name).join(', ')}`
  throw new ImportError(
    `${JSON.stringify(key)} is not a unique field of ${resource.plural} whose values have been read: those of the account ${names}. Nothing was written.`,
  )
}

function checkCombination({ replace, mode, maxDelete, key }: ImportOptions): void {
  if (replace && key !== undefined)
    throw new ImportError(
      '--replace cannot be used with --key: it deletes records by their ids, which the rows do not have. Nothing was written.',
    )
  if (replace && mode === 'insert')
    throw new ImportError(
      '--replace cannot be used with --mode insert, which only creates records. Nothing was written.',
    )
  if (replace && mode === 'update')
    throw new ImportError(
      '--replace cannot be used with --mode update: --replace expects all records of the other system, ' +
        '--mode update some that were read here. Nothing was written. Omit one of the two.',
    )
  if (!replace && maxDelete !== undefined)
    throw new ImportError(
      '--max-delete limits what --replace deletes, so it needs --replace. Nothing was written.',
    )
}

function fractionOf(input: ImportInput): number | undefined {
  if (input.bytesTotal === undefined) return undefined
  return input.bytesTotal === 0 ? 1 : Math.min(1, input.bytesRead() / input.bytesTotal)
}

function defaultRejects(file: string): string {
  return `${file === '-' ? 'import' : file}.rejects.csv`
}

function externalText({ account, resource }: ImportOptions): string {
  const { plural } = resources[resource]
  return (
    `From now on, another system assigns the ids of ${plural} up to ${limits.externalIdMax}, and Quartermaster those above. ` +
    `If that is wrong, delete these ${plural} and run \`quartermaster account ids ${account} ${resource} service\`.`
  )
}

function rejectedText(rejected: number, path: string, replace: boolean): string {
  return `${were(rejected, 'row')} rejected: see ${path}.${replace ? ' Therefore nothing was deleted.' : ''}`
}

function failureText(
  error: unknown,
  { ownerUrl, replace, dryRun }: ImportOptions,
  totals: ImportTotals,
): string {
  const reason = reasonOf(error, ownerUrl)
  const written = totals.inserted + totals.updated
  if (written + totals.deleted === 0 || dryRun === true) return reason
  const deleted = totals.deleted === 0 ? 'nothing was' : were(totals.deleted, 'record')
  return (
    `${reason} Before that, ${were(written, 'row')} written${replace ? ` and ${deleted} deleted` : ''}. ` +
    'Fix the cause and run the same command again: no row is written twice.'
  )
}

function were(count: number, noun: string): string {
  return count === 1 ? `1 ${noun} was` : `${grouped(count)} ${noun}s were`
}

function reasonOf(error: unknown, url: string): string {
  const fault = databaseFault(error, url, 'DATABASE_OWNER_URL')
  if (fault !== undefined) return `${fault.message} ${fault.repair}`
  if (error instanceof DatabaseError) return `PostgreSQL reports: ${error.message}.`
  return error instanceof Error ? error.message : String(error)
}
