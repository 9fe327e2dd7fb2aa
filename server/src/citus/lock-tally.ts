import type { Resource } from '../catalog/resources.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { join, prepared, sql, value } from '../sql.ts'
import { currentLineage } from '../tally-state.ts'
import { type LockedTally, lockStatement, seriesOf } from '../writes/tick.ts'
import { stableEpoch } from './stable-epoch.ts'

interface Row extends Omit<LockedTally, 'series'> {
  /** The columns of `Series` as text, separated by spaces. */
  readonly series: string
}

/**
 * Citus evaluates the functions of an UPDATE on the node that plans it, where both the epoch and the transaction are others than
 * on the worker with the row. A SELECT of one account is evaluated on that worker, so the statement that locks the row
 * computes the series. Without volatile functions, such as clock_timestamp(), it is planned once.
 */
export async function lockTallyWithSeries(
  { run }: Pick<Transaction, 'run'>,
  scope: AccountScope,
  resource: Resource,
): Promise<LockedTally | undefined> {
  const statement = lockStatement(scope, resource, { time: sql`statement_timestamp()`, columns })
  const [row] = await run<Row>(prepared(statement))
  return row && { ...row, series: readSeries(row.series) }
}

const series = join(Object.values(seriesOf(stableEpoch)), ', ')
const columns = sql`${stableEpoch.lineageColumns}, concat_ws(' ', ${series}) as series`

function readSeries(text: string): NonNullable<LockedTally['series']> {
  const [lineages = '', starts, changesFrom, imagesFrom, writer, xid] = text.split(' ')
  return {
    lineage: currentLineage({ lineages }),
    lineages: sql`${value(lineages)}::bigint[]`,
    lineage_starts: sql`${value(starts)}::bigint[]`,
    changes_from: sql`${value(changesFrom)}::bigint`,
    images_from: sql`${value(imagesFrom)}::bigint`,
    writer_epoch: sql`${value(writer)}::bigint`,
    writer_xid: sql`${value(xid)}::xid`,
  }
}
