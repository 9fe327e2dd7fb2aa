import { hash } from 'node:crypto'
import { expect, it } from 'vitest'
import { resources } from '../src/catalog/resources.ts'
import { defaultLimits } from '../src/limits/passed-limits.ts'
import { Database } from '../src/postgres/database.ts'
import { sql } from '../src/sql.ts'
import { adjustRecord, deleteRecord, patchRecord } from '../src/writes/change-record.ts'
import { IdempotentWrites } from '../src/writes/idempotency.ts'
import { atEnd } from './at-end.ts'
import { account, connected, freshDatabase, insertProducts } from './database.ts'
import { citusNodes } from './distributed-database.ts'
import { patientLimits } from './service.ts'

/** Changes of single records: planning their statements each time took PostgreSQL longer than running them. */

const url = await freshDatabase()
const client = await connected(url)
const resource = resources.product
const records = 80

const isDistributed = citusNodes.length > 0

it.skipIf(isDistributed)(
  'changes, adjustments and deletions of records use plans that PostgreSQL has kept',
  async () => {
    const acme = await account(client, 'acme')
    const { accountId } = acme
    await insertProducts(client, acme, records)
    // One connection, so that it is known which statements it has prepared.
    const database = new Database({
      url,
      role: 'quartermaster_server',
      writeRole: 'quartermaster_writer',
      pooler: 'none',
      emit: () => {},
      connectionsMax: 1,
      readMsMax: 60_000,
      limits: { ...defaultLimits, ...patientLimits },
    })
    atEnd(() => database.close())
    const idempotent = new IdempotentWrites(database)
    for (let id = 1; id <= records; id++) {
      const key = `${id}`
      const idempotency = { key, requestHash: hash('sha256', key, 'buffer'), resource: 'product' as const }
      const addressed = {
        scope: { accountId },
        resource,
        author: 'import',
        address: { id: key },
        etags: undefined,
        idempotency: undefined,
      }
      const etagOf = () => key
      const five = new Map([['qty_available', '5']])
      const patched = await patchRecord(idempotent, { ...addressed, idempotency }, five, etagOf)
      const adjusted = await adjustRecord(idempotent, addressed, five, etagOf)
      expect([patched, adjusted].map(({ record }) => JSON.parse(record ?? '{}').qty_available)).toEqual([
        5, 10,
      ])
      if (id % 2 === 0) await deleteRecord(idempotent, addressed)
    }
    const { rows } = await client.query(
      'select id from product where account_id = $1 and qty_available = 10',
      [accountId],
    )
    expect(rows).toHaveLength(records / 2)

    const kept = await database.write((transaction) =>
      transaction.run<{ statement: string }>(
        sql`select statement from pg_prepared_statements where generic_plans > 0`.statement(),
      ),
    )
    const texts = kept.map(({ statement }) => statement)
    const expected = {
      'the lock of the tally': /for update$/,
      'a change': /^with before as materialized .*update product t set qty_available/s,
      'an adjustment': /^select version::text as version, trim_scale/,
      'a deletion': /^with gone as .*delete from product where/s,
      'a trim of before-images': /^with up_to as .*delete from product_before/s,
      'a trim of tombstones': /^with up_to as .*delete from tombstone/s,
      'the result of a key': /^insert into idempotency/,
    }
    const missing = Object.entries(expected).filter(([, text]) => !texts.some((one) => text.test(one)))
    expect(missing.map(([name]) => name)).toEqual([])
  },
)
