import type pg from 'pg'
import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits.ts'
import type { AccountScope } from '../scope.ts'
import { Batch } from './batch.ts'
import { ImportError } from './columns.ts'
import type { RowChunk, RowFault } from './row.ts'
import { ImportSession } from './session.ts'

/** How far an import is; counted up while it runs. */
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
  /** Delete, in the end, what the rows did not have. Not where one was rejected: it may be one of those. */
  readonly replace: boolean
  readonly totals: ImportTotals
  readonly onFaults: (faults: readonly RowFault[]) => void
}

/** From this many changed rows on, the planner's picture of the table is worth renewing. */
const analyzeRowsMin = 10_000

export function noTotals(): ImportTotals {
  return { read: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0 }
}

export async function importRows(run: ImportRun): Promise<void> {
  const { client, scope, resource, totals } = run
  // A connection that breaks is told by the statement that was under way.
  client.on('error', () => {})
  const session = await ImportSession.open(client, scope, resource, { keepIds: run.replace })
  await writeAll(session, run)
  if (run.replace && totals.read === 0) {
    // More likely an export that went wrong than the wish to have nothing.
    throw new ImportError(
      `There are no rows, and --replace would delete every ${resource.name}. Nothing was deleted.`,
    )
  }
  if (run.replace && totals.rejected === 0) {
    await session.deleteOthers((deleted) => {
      totals.deleted += deleted
    })
  }
  if (totals.inserted + totals.updated + totals.deleted >= analyzeRowsMin) await session.analyze()
}

/** One batch is being written while the next is read: never more than these two are in memory. */
async function writeAll(session: ImportSession, run: ImportRun): Promise<void> {
  let writing = Promise.resolve()
  let batch = new Batch()
  const hand = async () => {
    await writing
    writing = write(session, batch, run)
    // Awaited in the next turn; until then its error is nobody's.
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
        if (batch.rows.length >= limits.importBatchRows) await hand()
      }
    }
    await hand()
  } finally {
    // Also when reading failed: the connection is not let go in the middle of a batch.
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
    incomplete.map(({ place, field }) => ({
      line: batch.lines[place] ?? 0,
      field: field.name,
      reason: `is required of a new ${resource.name}, and none has this id`,
      value: '',
    })),
  )
}
