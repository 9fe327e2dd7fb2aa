import type pg from 'pg'
import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits.ts'
import type { AccountScope } from '../scope.ts'
import { Batch } from './batch.ts'
import { ImportError } from './columns.ts'
import type { RowChunk, RowFault } from './row.ts'
import { ImportSession } from './session.ts'

/** Counts of rows, updated during the import. */
export interface ImportTotals {
  read: number
  inserted: number
  updated: number
  unchanged: number
  deleted: number
  rejected: number
}

export interface ImportRun {
  readonly client: pg.ClientBase
  readonly scope: AccountScope
  readonly resource: Resource
  readonly chunks: AsyncIterable<RowChunk>
  /** Deletes records that are not among the rows, at the end. Not if a row was rejected: its record would be deleted. */
  readonly replace: boolean
  readonly totals: ImportTotals
  readonly onFaults: (faults: readonly RowFault[]) => void
}

/** An import that changes at least this many rows also runs ANALYZE. */
const analyzeRowsMin = 10_000

export function noTotals(): ImportTotals {
  return { read: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0 }
}

export async function importRows(run: ImportRun): Promise<void> {
  const { client, scope, resource, totals } = run
  // If the connection breaks, the running statement rejects with the error.
  client.on('error', () => {})
  const session = await ImportSession.open(client, scope, resource, { trackIds: run.replace })
  await writeAll(session, run)
  if (run.replace && totals.read === 0) {
    // More likely a failed export than the intention to delete everything.
    throw new ImportError(
      `The file has no rows, so replacing would delete every ${resource.name}. Nothing was deleted.`,
    )
  }
  if (run.replace && totals.rejected === 0) {
    await session.deleteMissing((deleted) => {
      totals.deleted += deleted
    })
  }
  if (totals.inserted + totals.updated + totals.deleted >= analyzeRowsMin) await session.analyze()
}

/** Writes a batch while the next one is read. At most these two are in memory. */
async function writeAll(session: ImportSession, run: ImportRun): Promise<void> {
  let writing = Promise.resolve()
  let batch = new Batch()
  const flush = async () => {
    await writing
    writing = write(session, batch, run)
    // Awaited by the next flush. Without this, an error before that would be an unhandled rejection.
    writing.catch(() => {})
    batch = new Batch()
  }
  try {
    for await (const chunk of run.chunks) {
      run.totals.read += chunk.rows.length + chunk.rejected
      run.totals.rejected += chunk.rejected
      run.onFaults(chunk.faults)
      for (const row of chunk.rows) {
        batch.add(row)
        if (batch.rows.length >= limits.importBatchRows) await flush()
      }
    }
    await flush()
  } finally {
    // Also if reading failed, so that the connection is not closed during a batch.
    await writing
  }
}

async function write(
  session: ImportSession,
  batch: Batch,
  { resource, totals, onFaults }: ImportRun,
): Promise<void> {
  if (batch.rows.length === 0) return
  const { inserted, updated, incomplete } = await session.write(batch.rows)
  totals.inserted += inserted
  totals.updated += updated + batch.repeatsChanged
  totals.unchanged += batch.rows.length - inserted - updated - incomplete.length + batch.repeatsUnchanged
  totals.rejected += incomplete.length
  onFaults(
    incomplete.map(({ rowIndex, field }) => ({
      line: batch.lines[rowIndex] ?? 0,
      field: field.name,
      reason: `is required for a new ${resource.name} (no ${resource.name} has this id)`,
      value: '',
    })),
  )
}
