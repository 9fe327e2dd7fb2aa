import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAccount, showAccount } from '../src/accounts/directory.ts'
import { generateKey, hashOfKey, scopes } from '../src/accounts/key-format.ts'
import { operator } from '../src/cli/operator.ts'
import { importRecords } from '../src/import/import-records.ts'
import { account, connected, freshDatabase } from './database.ts'
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

it('rejects new rows with ids that this service assigns, and changes records that it has created', async () => {
  const rows = [
    { id: 4294967296, phone: '+49 40 1' },
    { id: 4294967299, name: 'not ours' },
  ]
  const response = await fetch(`http://127.0.0.1:${service.port}/api/v1/resources/partner/batch`, {
    method: 'POST',
    headers: {
      'x-forwarded-host': 'erp.localhost',
      authorization: `Bearer ${key}`,
      'content-type': 'application/x-ndjson',
    },
    body: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  })
  expect((await response.text()).split('\n').slice(0, 2)).toEqual([
    '{"line":2,"id":4294967299,"field":"id","reason":"is above 4294967295: this service assigns those ids, and no partner has it","value":"4294967299"}',
    '{"$end":{"read":2,"inserted":0,"updated":1,"unchanged":0,"deleted":0,"rejected":1}}',
  ])
})

it('the first batch with a new id shows that another system assigns ids', async () => {
  const acme = await account(client, 'acme')
  const post = (path: string, type: string, body: string) =>
    fetch(`http://127.0.0.1:${service.port}/api/v1/resources/${path}`, {
      method: 'POST',
      headers: {
        'x-forwarded-host': 'acme.localhost',
        authorization: `Bearer ${acme.key}`,
        'content-type': type,
      },
      body,
    })
  const created = async () => {
    const response = await post('partner', 'application/json', '{"name":"Created"}')
    return response.headers.get('location')
  }
  expect(await created()).toBe('/api/v1/resources/partner/1')
  await (await post('partner/batch', 'application/x-ndjson', '{"id":1,"name":"Changed"}\n')).text()
  expect(await created()).toBe('/api/v1/resources/partner/2')
  await (await post('partner/batch', 'application/x-ndjson', '{"id":7,"name":"Of the ERP"}\n')).text()
  expect(await created()).toBe('/api/v1/resources/partner/4294967296')
  expect(await created()).toBe('/api/v1/resources/partner/4294967297')
})
