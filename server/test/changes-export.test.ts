import { expect, it } from 'vitest'
import { allChanges, changes, changesUrl, summary, write } from './changes-fixture.ts'
import { account } from './database.ts'
import { freshService } from './service.ts'

/** An export and the changes after it, without a gap. */

const products = '/api/v1/inventory/product'

const { client, service } = await freshService()
const acme = await account(client, 'acme')

const exported = (path: string, method = 'GET') =>
  fetch(`http://127.0.0.1:${service.port}${path}`, {
    method,
    headers: {
      'x-forwarded-host': 'acme.localhost',
      authorization: `Bearer ${acme.key}`,
      accept: 'application/x-ndjson',
    },
  })

const cursorOf = (response: Response) => response.headers.get('x-changes-cursor') ?? ''

it('the cursor of an export leads to the changes after its snapshot', async () => {
  await write(client, acme, { upsert: { 1: 'one', 2: 'two' } })
  // A write that commits while the export is being read is not part of it.
  const response = await exported(products)
  await write(client, acme, { upsert: { 2: 'TWO', 3: 'three' }, delete: [1] })
  const lines = (await response.text()).trim().split('\n')
  expect(lines.slice(0, -1).map((line) => JSON.parse(line))).toMatchObject([
    { id: 1, name: 'one' },
    { id: 2, name: 'two' },
  ])
  const since = cursorOf(response)
  expect(summary(await changes(service, acme, { since }))).toEqual([
    'deleted 1 @2',
    'updated 2 @2',
    'created 3 @2',
  ])
})

it('belongs to the filter of the export, in any notation', async () => {
  await write(client, acme, { upsert: { 4: 'yes', 5: 'no' } })
  const since = cursorOf(await exported(`${products}?filter=name=yes`, 'HEAD'))
  await write(client, acme, { upsert: { 4: 'no' } })
  const next = await allChanges(service, acme, { since, filter: 'name="yes"' })
  expect(next.flatMap(summary)).toEqual(['removed 4 @4'])
  expect((await service.request(acme, 'GET', changesUrl({ since }))).status).toBe(400)
})

it('does not exist for a part of the ids, because the feed has no such parameter', async () => {
  const response = await exported(`${products}?after_id=2`)
  expect([response.status, response.headers.has('x-changes-cursor')]).toEqual([200, false])
})

it('an export of an account that was never written to has a cursor, too', async () => {
  const response = await exported('/api/v1/resources/company')
  const since = cursorOf(response)
  const { body } = await service.request(acme, 'GET', `/api/v1/resources/company/changes?since=${since}`)
  expect(body).toMatchObject({ data: [], meta: { count: 0, more: false } })
})
