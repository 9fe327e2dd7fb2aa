import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { accountNamed } from '../src/accounts/directory.ts'
import { scopes } from '../src/accounts/key-format.ts'
import { exportAccount } from '../src/archive/export-account.ts'
import { restoreAccount } from '../src/archive/restore-account.ts'
import { type ResourceName, resources } from '../src/catalog/resources.ts'
import { operator } from '../src/cli/operator.ts'
import { importRecords } from '../src/import/import-records.ts'
import { type IdSwitch, switchIds } from '../src/import/switch-ids.ts'
import { account, connected, type TestAccount } from './database.ts'
import { freshService } from './service.ts'

/** An archive carries who assigns ids. After a restore, no id that was assigned here is used again. */

const firstOwn = 4_294_967_296
const paths = {
  product: '/api/v1/inventory/product',
  partner: '/api/v1/resources/partner',
  company: '/api/v1/resources/company',
} as const

const { url, client, service } = await freshService()

async function create(by: TestAccount, resource: 'product' | 'partner'): Promise<unknown> {
  const { status, body } = await service.post(by, paths[resource], { name: 'Created here' })
  expect(status).toBe(201)
  return body
}

const created = (id: number) => ({ data: { id } })

async function remove(by: TestAccount, resource: ResourceName, id: number): Promise<void> {
  expect((await service.request(by, 'DELETE', `${paths[resource]}/${id}`)).status).toBe(204)
}

async function ofErp(by: TestAccount, resource: ResourceName, ...ids: number[]) {
  const records = ids.map((id) => ({ id, name: `Of the ERP ${id}` }))
  return await importRecords({ ownerUrl: url, account: by.name, resource, records, mode: 'upsert' })
}

async function switchTo(by: TestAccount, resource: ResourceName, to: IdSwitch['to']): Promise<void> {
  await switchIds(client, operator(), await accountNamed(client, by.name), resources[resource], { to })
}

async function archive({ name }: TestAccount): Promise<Buffer> {
  const exporting = await connected(url)
  const chunks: Buffer[] = []
  for await (const chunk of exportAccount(exporting, name, { rows: 0, records: undefined }))
    chunks.push(chunk)
  await exporting.end()
  return Buffer.concat(chunks)
}

async function restore(bytes: Buffer, name: string): Promise<void> {
  const restoring = await connected(url)
  await restoreAccount({
    client: restoring,
    actor: operator(),
    bytes: Readable.from([bytes]),
    name,
    replace: true,
    withKeys: true,
    onRows: () => {},
  })
  await restoring.end()
}

async function idsOf({ name }: { readonly name: string }): Promise<unknown[]> {
  const { rows } = await client.query(
    `select resource, last_id, own_last_id, sender_ids_from, service_ids from tally
     where account_id = (select account_id from account where name = $1) order by resource`,
    [name],
  )
  return rows
}

it('a restored account has the same ids to assign, and the same ranges of both sides', async () => {
  const acme = await account(client, 'acme', scopes)
  // Partners: of the ERP from 1. The last one that was created here is deleted.
  await ofErp(acme, 'partner', 1, 2)
  expect(await create(acme, 'partner')).toEqual(created(firstOwn))
  expect(await create(acme, 'partner')).toEqual(created(firstOwn + 1))
  await remove(acme, 'partner', firstOwn + 1)
  // Products: assigned here up to 2, then of the ERP. Companies: decided before the first one.
  for (const id of [1, 2]) expect(await create(acme, 'product')).toEqual(created(id))
  await switchTo(acme, 'product', 'external')
  await switchTo(acme, 'company', 'service')
  const expected = [
    { resource: 'company', last_id: '0', own_last_id: null, sender_ids_from: '1', service_ids: true },
    {
      resource: 'partner',
      last_id: String(firstOwn + 1),
      own_last_id: String(firstOwn + 1),
      sender_ids_from: '1',
      service_ids: false,
    },
    {
      resource: 'product',
      last_id: '2',
      own_last_id: String(firstOwn - 1),
      sender_ids_from: '3',
      service_ids: false,
    },
  ]
  expect(await idsOf(acme)).toEqual(expected)
  const bytes = await archive(acme)
  await restore(bytes, 'copy')
  expect(await idsOf({ name: 'copy' })).toEqual(expected)
  const copy = { ...acme, name: 'copy' }
  expect(await create(copy, 'partner')).toEqual(created(firstOwn + 2))
  expect(await create(copy, 'product')).toEqual(created(firstOwn))
  // An older archive of the same account: what was assigned since stays assigned.
  expect(await create(acme, 'partner')).toEqual(created(firstOwn + 2))
  await restore(bytes, acme.name)
  expect(await create(acme, 'partner')).toEqual(created(firstOwn + 3))
})

it('an archive in which nobody has assigned ids leaves the decision of the account', async () => {
  const late = await account(client, 'late', scopes)
  const bytes = await archive(late)
  await ofErp(late, 'partner', 7)
  expect(await create(late, 'partner')).toEqual(created(firstOwn))
  expect(await create(late, 'product')).toEqual(created(1))
  await restore(bytes, late.name)
  expect(await ofErp(late, 'partner', 8)).toMatchObject({ inserted: 1 })
  expect(await create(late, 'partner')).toEqual(created(firstOwn + 1))
  expect(await create(late, 'product')).toEqual(created(2))
})

it('an archive from before another system assigned ids keeps the ids of this service out of its range', async () => {
  const older = await account(client, 'older', scopes)
  for (const id of [1, 2]) expect(await create(older, 'partner')).toEqual(created(id))
  const bytes = await archive(older)
  await switchTo(older, 'partner', 'external')
  expect(await create(older, 'partner')).toEqual(created(firstOwn))
  await restore(bytes, older.name)
  expect(await create(older, 'partner')).toEqual(created(firstOwn + 1))
  await switchTo(older, 'partner', 'external')
  const { sender_ids_from: from } = (
    await client.query<{ sender_ids_from: string }>(
      `select sender_ids_from from tally where resource = 'partner' and account_id = $1`,
      [older.accountId],
    )
  ).rows[0] ?? { sender_ids_from: '' }
  expect(from).toBe('3')
})
