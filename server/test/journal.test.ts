import { beforeEach, describe, expect, it } from 'vitest'
import { resources } from '../src/catalog/resources.ts'
import type { ImportRow } from '../src/import/net-effect.ts'
import { ImportSession } from '../src/import/session.ts'
import { limits } from '../src/limits/limits.ts'
import { sql } from '../src/sql.ts'
import { isValidPosition, type Lineages, lineageColumns } from '../src/tally-state.ts'
import { insertStatement } from '../src/writes/create-statements.ts'
import { account, connected, freshDatabase, type TestAccount } from './database.ts'
import { rowParts } from './row-parts.ts'

/** What every write leaves for the change feed and for cached totals: versions, tombstones, before-images, lineages. */

let scope: TestAccount
let number = 0

const url = await freshDatabase()
const client = await connected(url)

beforeEach(async () => {
  scope = await account(client, `acme${++number}`)
})

/** A row with an id, a name, a code and a price; other fields are absent. */
function product(id: number, name: string, price = '1'): ImportRow {
  return resources.product.fields.map((field) => {
    if (field.name === 'id') return String(id)
    if (field.name === 'name') return name
    return field.name === 'list_price' ? price : undefined
  })
}

async function write(rows: readonly ImportRow[]): Promise<void> {
  const session = await ImportSession.open(client, scope, resources.product, {
    trackIds: false,
    mode: 'load',
  })
  await session.write(rowParts(rows))
}

/** Replaces all products by these. */
async function replace(rows: readonly ImportRow[]): Promise<void> {
  const session = await ImportSession.open(client, scope, resources.product, { trackIds: true, mode: 'load' })
  await session.write(rowParts(rows))
  await session.deleteMissing(() => {})
}

async function create(name: string): Promise<void> {
  const { text, values } = insertStatement(resources.partner, {
    scope,
    author: 'b7TqM2vc',
    values: new Map([['name', name]]),
    recordsMax: 1_000,
  })
  await client.query(text, [...values])
}

async function select(text: string): Promise<Record<string, unknown>[]> {
  return (await client.query({ text: text.replaceAll('$account', scope.accountId) })).rows
}

interface TallyRow extends Lineages {
  readonly images_from: string
  readonly stored: string
}

async function tally(resource = 'product'): Promise<TallyRow> {
  const { text } =
    sql`select t.version, ${lineageColumns}, t.images_from, t.lineages::text as stored from tally t`.statement()
  const { rows: found } = await client.query<TallyRow>(
    `${text} where t.account_id = $1 and t.resource = $2`,
    [scope.accountId, resource],
  )
  const [row] = found
  if (row === undefined) throw new Error('no tally')
  return row
}

describe('before-images and tombstones', () => {
  it('have the record as it was before each change, and none of unchanged and created records', async () => {
    await write([product(1, 'one'), product(2, 'two'), product(3, 'three')])
    await write([product(1, 'uno'), product(2, 'two'), product(4, 'four')])
    await write([product(1, 'eins', '2.5')])
    expect(
      await select(`select version, id, created_version, name, list_price, active from product_before
        where account_id = $account order by version, id`),
    ).toEqual([
      { version: '2', id: '1', created_version: '1', name: 'one', list_price: '1', active: true },
      { version: '3', id: '1', created_version: '1', name: 'uno', list_price: '1', active: true },
    ])
    expect(
      await select(
        'select id, version, created_version from product where account_id = $account order by id',
      ),
    ).toEqual([
      { id: '1', version: '3', created_version: '1' },
      { id: '2', version: '1', created_version: '1' },
      { id: '3', version: '1', created_version: '1' },
      { id: '4', version: '2', created_version: '2' },
    ])
  })

  it('of a deletion', async () => {
    await write([product(1, 'one'), product(2, 'two')])
    await replace([product(2, 'two')])
    expect(await select('select resource, version, id from tombstone where account_id = $account')).toEqual([
      { resource: 'product', version: '2', id: '1' },
    ])
    expect(await select('select version, id, name from product_before where account_id = $account')).toEqual([
      { version: '2', id: '1', name: 'one' },
    ])
  })

  it('are not stored for a write of more records than the limit, which the tally states', async () => {
    const many = Array.from({ length: limits.imagesOfWriteMax + 1 }, (_, i) => i + 1)
    await write(many.map((id) => product(id, 'old')))
    expect((await tally()).images_from).toBe('0')
    await write(many.map((id) => product(id, 'new')))
    expect(await select('select from product_before where account_id = $account')).toEqual([])
    expect((await tally()).images_from).toBe('2')
    await write(many.slice(1).map((id) => product(id, 'newer')))
    expect((await select('select from product_before where account_id = $account')).length).toBe(
      limits.imagesOfWriteMax,
    )
    expect((await tally()).images_from).toBe('2')
  })

  it('are deleted with whole versions when they have expired', async () => {
    await write([product(1, '0'), product(2, '0')])
    for (let version = 2; version < limits.trimVersions; version++)
      await write([product(1, String(version)), product(2, String(version))])
    await client.query(
      `update product_before set at = now() - interval '16 minutes' where account_id = $1 and version <= 5`,
      [scope.accountId],
    )
    await write([product(1, 'last')])
    expect(
      await select('select min(version) as oldest from product_before where account_id = $account'),
    ).toEqual([{ oldest: '6' }])
    expect((await tally()).images_from).toBe('5')
    const { lineages, stored } = await tally()
    expect(lineages).toBe(stored)
  })
})

describe('lineages', () => {
  const position = (of: Lineages) => ({
    lineage: of.lineages.slice(1, -1).split(',')[0] ?? '',
    version: of.version,
  })

  it('stay the same over writes of all kinds', async () => {
    await write([product(1, 'one')])
    const first = await tally()
    await write([product(1, 'uno')])
    await replace([product(2, 'two')])
    const last = await tally()
    expect(last.lineages).toBe(first.lineages)
    expect(isValidPosition(last, position(first))).toBe(true)
    expect(isValidPosition(last, { ...position(last), version: '99' })).toBe(false)
    expect(last.changes_from).toBe('0')
  })

  it('begin before the first write: a position from before it is valid after it', async () => {
    const empty = await tally('partner')
    await create('Nordwind')
    const after = await tally('partner')
    expect(isValidPosition(after, position(empty))).toBe(true)
    await create('Ostwind')
    expect(await tally('partner')).toMatchObject({ version: '2', lineages: after.lineages })
  })

  it.each([
    ['a write without a journal', 'version = version + 1'],
    ['a restore of an earlier version', 'version = version - 1'],
  ])('end with %s: every position before it is invalid', async (_, change) => {
    await write([product(1, 'one')])
    await write([product(1, 'uno')])
    const before = await tally()
    await client.query(`update tally set ${change} where account_id = $1`, [scope.accountId])
    await client.query('delete from product_before where account_id = $1', [scope.accountId])
    const between = await tally()
    expect(between.changes_from).toBe(between.version)
    expect(between.lineages).not.toBe(before.lineages)
    await write([product(1, 'eins')])
    const after = await tally()
    expect(after.changes_from).toBe(between.version)
    expect(after.images_from).toBe(between.version)
    expect(after.lineages).toBe(between.lineages)
    expect(isValidPosition(after, position(between))).toBe(true)
    for (const version of ['0', '1', '2', '3'])
      expect(isValidPosition(after, { ...position(before), version })).toBe(false)
  })

  it('continue after a failover up to the version that the new primary had', async () => {
    await write([product(1, 'one')])
    await write([product(1, 'uno')])
    const before = await tally()
    // Another server: its epoch has another hash.
    await client.query('begin')
    await client.query(
      `update tally set writer_epoch = 1, writer_xid = pg_current_xact_id()::xid where account_id = $1`,
      [scope.accountId],
    )
    await client.query('commit')
    expect((await tally()).lineages).toBe(before.lineages)
    await write([product(1, 'eins')])
    const after = await tally()
    expect(after.lineages).not.toBe(before.lineages)
    expect(after.changes_from).toBe('0')
    expect(isValidPosition(after, position(before))).toBe(true)
    expect(isValidPosition(after, { ...position(before), version: '3' })).toBe(false)
  })

  it('are remembered up to a limit', async () => {
    await write([product(1, 'one')])
    const first = await tally()
    for (let n = 0; n < limits.lineagesMax; n++) {
      expect(isValidPosition(await tally(), position(first))).toBe(true)
      await client.query(
        'update tally set writer_epoch = 1, writer_xid = pg_current_xact_id()::xid where account_id = $1',
        [scope.accountId],
      )
      await write([product(1, `name ${n}`)])
    }
    const last = await tally()
    expect(last.lineages.split(',').length).toBe(limits.lineagesMax)
    expect(isValidPosition(last, position(first))).toBe(false)
  })
})
