import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAccount, showAccount } from '../src/accounts/directory.ts'
import { generateKey, hashOfKey, scopes } from '../src/accounts/key-format.ts'
import { operator } from '../src/cli/operator.ts'
import { importRecords } from '../src/import/import-records.ts'
import { connected, freshDatabase } from './database.ts'
import { startTestService, type TestService } from './service.ts'

/** An account whose ids come from an ERP: the ids that both assign must never meet. */

let url: string
let client: pg.Client
let service: TestService
const key = generateKey()
const erp = { name: 'erp', key }

beforeAll(async () => {
  url = await freshDatabase()
  client = await connected(url)
  service = await startTestService(url)
  const { accountId } = await createAccount(client, operator(), erp.name, 'external')
  await client.query(
    `insert into api_key (account_id, key_id, hash, name, scopes) values ($1, 'k', decode($2, 'hex'), 'test', $3)`,
    [accountId, hashOfKey(key), scopes],
  )
})
afterAll(async () => {
  await service.close()
  await client.end()
})

async function create(name: string): Promise<unknown> {
  const { status, body } = await service.post(erp, '/api/v1/resources/partner', { name })
  expect(status).toBe(201)
  return body
}

function load(...ids: number[]) {
  const records = ids.map((id) => ({ id, name: `of the ERP ${id}` }))
  return importRecords({ ownerUrl: url, account: erp.name, resource: 'partner', records })
}

it('the service assigns ids from 2^32 on, and the other system those below', async () => {
  await load(1, 2)
  expect(await create('Nordwind')).toEqual({ data: { id: 4294967296 } })
  // The id that the ERP assigns next: without a range of its own, the service would have used it.
  await load(3)
  expect(await create('Ostwind')).toEqual({ data: { id: 4294967297 } })
  const { rows } = await client.query<{ id: string; name: string }>(
    'select id, name from partner order by id',
  )
  expect(rows).toEqual([
    { id: '1', name: 'of the ERP 1' },
    { id: '2', name: 'of the ERP 2' },
    { id: '3', name: 'of the ERP 3' },
    { id: '4294967296', name: 'Nordwind' },
    { id: '4294967297', name: 'Ostwind' },
  ])
  const { tallies } = await showAccount(client, erp.name)
  expect(tallies.find(({ resource }) => resource === 'partner')).toMatchObject({
    total: 5,
    lastId: 4294967297,
    ownLastId: 4294967297,
  })
})
