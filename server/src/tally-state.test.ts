import { expect, it } from 'vitest'
import { resources } from './catalog/resources.ts'
import { limits } from './limits/limits.ts'
import { PlanCache } from './lists/plan-cache.ts'
import type { Database } from './postgres/database.ts'
import { listStatement } from './query/sql/list-statement.ts'
import { placeholder, sql, value } from './sql.ts'
import {
  compareReplica,
  currentLineageState,
  epochColumn,
  stateColumns,
  type TallyState,
} from './tally-state.ts'

const tally = { epoch: 'e', version: '9', xid: '700', writer: '-5', total: 1, schema: 0 }

it.each([
  [{ version: '9', xid: '700', writer: '-5' }, 'same'],
  [{ version: '10', xid: '701', writer: '-5' }, 'later'],
  [{ version: '8', xid: '700', writer: '-5' }, 'behind'],
  [{ version: '9', xid: '701', writer: '-5' }, 'diverged'],
  [{ version: '9', xid: '700', writer: '-6' }, 'diverged'],
  [{ version: '9', xid: '700', writer: null }, 'unproven'],
  [{ version: '10', xid: '701', writer: null }, 'unproven'],
] as const)('a replica with %o is %s', (row, standing) => {
  expect(compareReplica(row, tally)).toBe(standing)
})

it('a tally whose last write was not our own cannot be compared', () => {
  const row = { version: '9', xid: '700', writer: '-5' }
  expect(compareReplica(row, { ...tally, writer: undefined })).toBe('unproven')
})

it('a statement for a replica reads no epoch, which a standby does not have', () => {
  const { plan } = new PlanCache().list(resources.product, 'filter=name=a', 'url')
  const carry = { lineage: '1', version: '1', start: { id: '0', rank: 0 }, safeStart: { id: '0', rank: 0 } }
  for (const hints of [{}, { isSmallAccount: true }, { total: limits.filterSortRecordsMax + 1 }, { carry }]) {
    const statement = listStatement({ accountId: '1' }, plan, 1, hints)
    expect(statement.text).toContain('pg_current_wal_lsn')
    const text = statement.replicaText()
    expect(text).not.toContain('pg_current_wal_lsn')
    expect(text).toContain(' as writer, t.version, t.xmin::text as xid')
    // Everything else is the same, such as the numbers of the values.
    expect(text.split(/ as writer, /)[1]).toBe(statement.text.split(/ as epoch, /)[1])
  }
})

it('a fragment with state columns has another text for a replica, wherever they are', () => {
  const columns = sql`${stateColumns}, t.total`
  expect(columns.hasState).toBe(true)
  expect(sql`select 1`.hasState).toBe(false)
  expect(sql`select 1`.template([placeholder()], 'other')([]).replicaText).toBeUndefined()
  const { text, replicaText } =
    sql`select ${currentLineageState}, ${value(7)}, ${epochColumn} from tally t`.statement()
  expect(text).toMatch(/^select case when .* end, \$1, encode\(.* as epoch from tally t$/s)
  expect(replicaText()).toBe('select t.lineages[1], $1, null as epoch from tally t')
})

/** Never called. Does not compile if a row that names its server can be read by a statement without state columns, or the reverse. */
export const sent = (database: Database) => [
  database.read<TallyState>(sql`select ${stateColumns} from tally t`.statement()),
  // @ts-expect-error -- it has no state columns
  database.read<TallyState>(sql`select t.version from tally t`.statement()),
]
