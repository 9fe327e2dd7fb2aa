import type { KeyField } from '../catalog/own-fields.ts'
import type { Resource } from '../catalog/resources.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { holdersOf } from '../writes/record-keys.ts'
import type { LockedTally } from '../writes/tick.ts'
import type { Run } from './batch-writes.ts'
import { copyText } from './cell.ts'
import { Fold, type FoldContext, type Folded } from './fold.ts'
import { nextIds, type WriteMode } from './id-rules.ts'
import { KeyLedger, textOfCell } from './key-ledger.ts'
import type { Row } from './row.ts'
import { defaultCells } from './row-cells.ts'
import { addressIndex, type RowResource } from './row-resource.ts'
import * as statements from './statements.ts'
import { storedEtags } from './stored-etags.ts'

export interface OrderedRows {
  readonly run: Run
  readonly transaction: Pick<Transaction, 'run'>
  readonly scope: AccountScope
  /** Of the rows. */
  readonly resource: RowResource
  /** With the fields that the account has now. */
  readonly current: Resource
  /** The field that names the records of rows, if it is not the id. */
  readonly rowKey: KeyField | undefined
  readonly mode: WriteMode
  readonly tally: LockedTally
  readonly faultOfNew: FoldContext['faultOfNew']
}

/** The net effect of rows that take effect one after the other. Reads the records that they name, and those that have their unique values. */
export async function foldRows(ordered: OrderedRows, rows: readonly Row[]): Promise<Folded> {
  const { run, transaction, scope, resource, current, rowKey, tally } = ordered
  const wanted = new KeyLedger(current, resource)
  const keys = rows.flatMap(({ cells }) => wanted.valuesIn(cells))
  const ledger = new KeyLedger(current, resource, await holdersOf(transaction, scope, current, keys))
  const index = addressIndex(resource)
  const idOf = ({ cells }: Row) => {
    if (rowKey === undefined) return cells[0]
    const value = textOfCell(rowKey, cells[index])
    return value === undefined ? undefined : ledger.holderOf({ field: rowKey, value })
  }
  const idsOf = (found: readonly Row[]) => [...new Set(found.flatMap((row) => idOf(row) ?? []))]
  const stored = await storedCells(ordered, idsOf(rows))
  const conditional = idsOf(rows.filter(({ ifMatch }) => ifMatch !== undefined))
  const ids = conditional.filter((id) => stored.has(id))
  const fold = new Fold(stored, {
    mode: ordered.mode,
    noun: resource.noun,
    defaults: defaultCells(resource, tally.written_at),
    writeDateIndex: resource.fields.findIndex(({ name }) => name === 'write_date'),
    writtenAt: tally.written_at,
    faultOfNew: ordered.faultOfNew,
    isStored: await storedEtags(run, scope, resource, { ids, tally }),
    keys: ledger,
    ...(rowKey === undefined ? {} : { address: { field: rowKey, index, nextId: nextIds(tally) } }),
  })
  for (const row of rows) fold.apply(row)
  return fold.result()
}

async function storedCells(
  { run, scope, resource, tally }: OrderedRows,
  ids: readonly string[],
): Promise<Map<string, readonly string[]>> {
  // No record has an id above last_id.
  const candidates = ids.filter((id) => Number(id) <= Number(tally.last_id))
  const stored = new Map<string, readonly string[]>()
  if (candidates.length === 0) return stored
  const { rows } = await run<{ cells: (string | null)[] }>(
    statements.storedCells(scope, resource, candidates),
  )
  for (const { cells } of rows) stored.set(cells[0] ?? '', cells.map(copyText))
  return stored
}
