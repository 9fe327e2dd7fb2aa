import { withClient } from '../../../server/src/postgres/client.ts'
import type { Connection } from '../../../server/src/postgres/connection.ts'
import { sharedFixture } from '../ratios/fixture.ts'

/**
 * One account with a million products, and small ones. Each has five declared fields with the values of five fields of the catalog, its
 * twins, and default_code, which is unique: it is the id as text.
 */
export const fieldsFixture = sharedFixture('fields', (context) => ({
  records: context.size(1_000_000, 100_000),
  accounts: context.size(1_000, 200),
}))

/** By number: the declared field, its type and its twin. */
export const twins = [
  { number: 1, name: 'x_text', type: 'text', twin: 'name', value: 'to_jsonb(name)' },
  { number: 2, name: 'x_price', type: 'decimal', twin: 'list_price', value: 'to_jsonb(list_price)' },
  { number: 3, name: 'x_quantity', type: 'integer', twin: 'qty_available', value: 'to_jsonb(qty_available)' },
  { number: 4, name: 'x_active', type: 'boolean', twin: 'active', value: 'to_jsonb(active)' },
  { number: 5, name: 'x_category', type: 'integer', twin: 'categ_id', value: 'to_jsonb(categ_id)' },
] as const

const keyNumber = 6

/** Written with SQL, because a million patches would take hours. */
export async function addFields(url: string): Promise<void> {
  await withClient(url, async (client) => {
    for (const { number, name, type } of twins) await declare(client, number, name, type, null)
    await declare(client, keyNumber, 'default_code', 'text', 'ready')
    const members = twins.map(({ number, value }) => `'${number}', ${value}`).join(', ')
    await client.query(
      `update product set custom = jsonb_strip_nulls(jsonb_build_object(${members})), default_code = id::text`,
    )
    await client.query(
      `insert into product_key (account_id, field, value, id) select account_id, ${keyNumber}, default_code, id from product`,
    )
    await client.query(
      `update tally set schema = ${keyNumber}, version = version + 1 where resource = 'product'`,
    )
    for (const table of ['product', 'product_key', 'tally']) await client.query(`vacuum analyze ${table}`)
  })
}

async function declare(
  client: Connection,
  number: number,
  name: string,
  type: string,
  unique: string | null,
): Promise<void> {
  await client.query(
    `insert into field (account_id, resource, number, name, type, label, unique_state)
     select account_id, 'product', $1, $2, $3, '', $4 from account`,
    [number, name, type, unique],
  )
}
