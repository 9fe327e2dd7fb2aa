import type { Actor } from '../accounts/audit.ts'
import type { Resource } from '../catalog/resources.ts'
import { Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { Connection } from '../postgres/connection.ts'
import type { AccountScope } from '../scope.ts'
import { Batch, type BatchParts } from './batch.ts'
import { ImportError } from './columns.ts'
import type { RejectedLine } from './fold.ts'
import type { WriteMode } from './id-rules.ts'
import { ImportAudit } from './import-audit.ts'
import type { BatchOutcome } from './net-effect.ts'
import type { Row, RowChunk, RowFault } from './row.ts'
import { addressField, addressIndex, type RowResource } from './row-resource.ts'
import { ImportSession } from './session.ts'

/** Counts of rows, updated during the import. */
export interface ImportTotals {
  read: number
  inserted: number
  updated: number
  unchanged: number
  deleted: number
  rejected: number
  /** Set if the ids of the rows decided who assigns them: nobody had before. */
  idsNow?: 'external'
}

export interface ImportRun {
  readonly client: Connection
  readonly scope: AccountScope
  readonly resource: RowResource
  readonly chunks: AsyncIterable<RowChunk>
  /** Deletes records that are not among the rows, at the end. Not if a row was rejected: its record would be deleted. */
  readonly replace: boolean
  readonly mode: WriteMode
  /** Who is recorded in the audit log. */
  readonly actor?: Actor
  /** For the audit log. */
  readonly file?: string
  /** Of `replace`: how many records may be deleted. */
  readonly maxDelete?: MaxDelete
  /** Counts what the import would do, and writes nothing. */
  readonly dryRun?: boolean
  readonly totals: ImportTotals
  /** Ends the import with an error after this number of rejected rows. Default: never. */
  readonly rejectedMax?: number
  readonly onFaults: (faults: readonly RowFault[]) => void | Promise<void>
}

/** A number of records, or a share of those that the import replaces. */
export type MaxDelete = { readonly records: number } | { readonly percent: number }

/** Writes a batch in one transaction. */
export interface BatchWriter {
  write(parts: BatchParts): Promise<BatchOutcome>
}

export type RowInput = Pick<ImportRun, 'resource' | 'chunks' | 'totals' | 'rejectedMax' | 'onFaults'>

/** An import that changes at least this many rows also runs ANALYZE. */
const analyzeRowsMin = 10_000

export function noTotals(): ImportTotals {
  return { read: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0 }
}

export async function importRows(run: ImportRun): Promise<void> {
  const { client, scope, resource, totals } = run
  const { mode, actor, dryRun = false } = run
  const audit =
    actor === undefined || dryRun
      ? {}
      : { actor, audit: new ImportAudit(scope, resource, actor, run.file ?? 'records') }
  const options = { trackIds: run.replace, mode, dryRun, ...audit }
  const session = await ImportSession.open(client, scope, resource, options)
  if (
    resource.rowKey === undefined &&
    mode !== 'update' &&
    mode !== 'load' &&
    session.idSourceBefore === 'service'
  )
    throw idsAssignedHere(resource)
  await writeAll(session, run)
  await session.complete(totals.rejected)
  if (!dryRun && totals.inserted + totals.updated + totals.deleted >= analyzeRowsMin) await session.analyze()
}

async function writeAll(session: ImportSession, run: ImportRun): Promise<void> {
  const { resource, totals, mode } = run
  await writeRows(session, run, () => limits.importBatchRows)
  if (run.replace && totals.read === 0) {
    // More likely a failed export than the intention to delete everything.
    throw new ImportError(
      `The file has no rows, so replacing would delete every ${resource.name}. Nothing was deleted.`,
    )
  }
  if (run.replace && totals.rejected === 0) {
    const onBatch = (deleted: number) => {
      totals.deleted += deleted
    }
    const max = run.maxDelete ?? { percent: mode === 'load' ? 100 : limits.importDeletePercentMax }
    await session.deleteMissing(onBatch, (missing, records) => checkDeletes(resource, max, missing, records))
  }
}

function checkDeletes({ plural }: Resource, max: MaxDelete, missing: number, records: number): void {
  const allowed = 'records' in max ? max.records : Math.floor((records * max.percent) / 100)
  if (missing <= allowed) return
  throw new ImportError(
    `${missing} of ${records} ${plural} are not in the file, and --replace may delete ${allowed}. Nothing was deleted. ` +
      `If the file is complete, run the same command with --max-delete ${missing}.`,
  )
}

/** Writes a batch while the next one is read. At most these two are in memory. `batchRows`: of the next one. */
export async function writeRows(writer: BatchWriter, run: RowInput, batchRows: () => number): Promise<void> {
  let writing = Promise.resolve()
  const index = addressIndex(run.resource)
  let batch = new Batch(index)
  const flush = async () => {
    await writing
    writing = write(writer, batch, run)
    // Awaited by the next flush. Without this, an error before that would be an unhandled rejection.
    writing.catch(() => {})
    batch = new Batch(index)
  }
  try {
    for await (const chunk of run.chunks) {
      run.totals.read += chunk.rows.length + chunk.rejected
      run.totals.rejected += chunk.rejected
      if (chunk.faults.length > 0) await run.onFaults(chunk.faults)
      for (const row of chunk.rows) {
        batch.add(row)
        if (batch.size >= batchRows() || batch.characters >= limits.importBatchCharacters) await flush()
      }
      if (run.totals.rejected >= (run.rejectedMax ?? Number.POSITIVE_INFINITY)) {
        await flush()
        await writing
        throw tooManyRejected(run.totals)
      }
    }
    await flush()
  } finally {
    // Also if reading failed, so that the connection is not closed during a batch.
    await writing
  }
}

function tooManyRejected({ read, rejected }: ImportTotals): Failure {
  return new Failure(
    'rows_rejected',
    `The batch ended early, because ${rejected} of its first ${read} rows were rejected. The others of these rows are written; the rows after them were not read. ` +
      'Fix the cause, and send the batch again: rows that were written are then unchanged.',
  )
}

async function write(
  writer: BatchWriter,
  batch: Batch,
  { resource, totals, onFaults }: RowInput,
): Promise<void> {
  if (batch.size === 0) return
  const parts = batch.parts()
  const { inserted, updated, deleted, ...outcome } = await writer.write(parts)
  const rejected = [
    ...forbiddenLines([...parts.rows, ...parts.deletes, ...parts.ordered], outcome.forbidden),
    ...outcome.rejected,
  ].toSorted((a, b) => a.line - b.line)
  totals.inserted += inserted
  totals.updated += updated
  totals.deleted += deleted
  totals.unchanged += batch.size - inserted - updated - deleted - rejected.length
  totals.rejected += rejected.length
  if (outcome.becameExternal) totals.idsNow = 'external'
  if (rejected.length === 0) return
  const { name: address } = addressField(resource)
  const isAddress = ({ field }: { readonly field: string }) => field === address || field === '$delete'
  await onFaults(
    rejected.map((fault) => ({ value: isAddress(fault) ? (fault.id ?? fault.key ?? '') : '', ...fault })),
  )
}

/** The lines with ids that the batch must not use. */
function forbiddenLines(lines: readonly Row[], forbidden: BatchOutcome['forbidden']): RejectedLine[] {
  return lines.flatMap(({ line, cells, isDelete }) => {
    const id = cells[0] ?? ''
    const reason = forbidden.get(id)
    return reason === undefined ? [] : [{ line, id, field: isDelete === true ? '$delete' : 'id', reason }]
  })
}

/** Every row would be rejected. */
function idsAssignedHere({ name, plural }: Resource): ImportError {
  return new ImportError(
    `Quartermaster assigns the ids of ${plural} in this account, so an id in the file may be the id of another ${name}. Nothing was written. ` +
      `If the ids in the file are from an export of this account, pass --mode update. If another system assigns them, run ` +
      `\`quartermaster account ids ACCOUNT ${name} external\` first.`,
  )
}
