import { expect, it } from 'vitest'
import { resources } from './catalog/resources.ts'
import { limits } from './limits/limits.ts'
import { PlanCache } from './lists/plan-cache.ts'
import { listStatement } from './query/sql/list-statement.ts'
import { compareReplica, forReplica } from './tally-state.ts'

const tally = { epoch: 'e', version: '9', xid: '700', writer: '-5', total: 1 }

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
    const { text, values } = forReplica(statement)
    expect(text).not.toContain('pg_current_wal_lsn')
    expect(text).toContain(' as writer, t.version, t.xmin::text as xid')
    expect(values).toEqual(statement.values)
  }
})
