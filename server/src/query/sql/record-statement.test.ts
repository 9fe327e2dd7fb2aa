import { expect, it } from 'vitest'
import { resources } from '../../catalog/resources.ts'
import { recordStatement } from './record-statement.ts'

it('recordStatement reads the tally and the record of one account by id', () => {
  const fields = resources.product.fields.filter((field) => field.name === 'list_price')
  expect(recordStatement({ accountId: '12' }, resources.product, fields, '5')).toEqual({
    operation: 'record',
    text: `select encode(timestamptz_send(pg_postmaster_start_time()), 'hex') || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as epoch, t.version, t.xmin::text as xid, case when t.writer_xid = t.xmin then t.lineages[1] else hashtextextended(encode(timestamptz_send(pg_postmaster_start_time()), 'hex') || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || ' ' || t.xmin::text || ' ' || t.version::text, 0) end as lineage, r.version as record_version, '{"list_price":' || r.list_price::text || '}' as record
from tally t
left join product r on r.account_id = $1::bigint and r.id = $2::bigint
where t.account_id = $1::bigint and t.resource = $3::text`,
    values: ['12', '5', 'product'],
    execution: 'pipelined',
  })
})
