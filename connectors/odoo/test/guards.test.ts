import { rmSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import { connectedPairs, idsOf } from './fixture.ts'
import { old } from './stand-in.ts'

/** Each guard stops with exit code 3, a reason and a way on, and before anything is deleted. The Odoo is a stand-in. */

const connectedPair = await connectedPairs()
let pair: Awaited<ReturnType<typeof connectedPair>>
beforeEach(async () => {
  pair = await connectedPair()
  expect(await pair.command('run --once')).toMatchObject({ code: 0 })
})

async function stops(reason: string, wayOn: string, args = 'run --once'): Promise<void> {
  const { code, err } = await pair.command(args)
  expect(err).toContain(`stopped (${reason}): `)
  expect(err).toContain(wayOn)
  expect(code).toBe(3)
  expect(await idsOf(pair.qm.products)).toHaveLength(300)
  expect(await idsOf(pair.qm.partners)).toHaveLength(40)
}

it('more than 1 % of deletes', async () => {
  const { odoo, command, qm } = pair
  odoo.unlink('product.product', ...Array.from({ length: 20 }, (_, i) => i + 1))
  await stops('too_many_deletes', 'pass --allow-deletes 20 once')
  expect((await command('plan')).out).toContain(
    'A run stops before it deletes 20 of product: --allow-deletes 20',
  )
  expect(await command('run --once --allow-deletes 20')).toMatchObject({ code: 0 })
  expect(await idsOf(qm.products)).toHaveLength(280)
})

it('an emptied table', async () => {
  pair.odoo.tables['res.partner'] = []
  await stops('restored', 'pass --accept-database once')
  await stops('too_many_deletes', '--allow-deletes 40', 'run --once --accept-database')
})

it('another database, by its users', async () => {
  pair.odoo.tables['res.users'] = [{ id: 1, create_date: '2026-06-01 08:00:00' }]
  await stops('database_changed', 'pass --accept-database once')
})

it('another database, without a state, by the dates of birth of the records here', async () => {
  const { odoo, state, command, qm } = pair
  rmSync(state)
  for (const row of odoo.rows('product.product')) row['create_date'] = '2026-06-01 08:00:00'
  await stops('database_changed', 'pass --accept-database once')
  expect(await command('run --once --accept-database')).toMatchObject({ code: 0 })
  expect(await qm.products.get({ x_odoo_id: 1 })).toMatchObject({ create_date: '2026-06-01T08:00:00.000Z' })
})

it('a restored database, by rows that are older than they were', async () => {
  const { odoo, command } = pair
  odoo.write('res.partner', 9, { name: 'Before the restore' })
  await command('run --once')
  odoo.write('res.partner', 9, { name: 'Partner 9', write_date: old })
  await stops('restored', 'pass --accept-database once')
})

it('a restored database, by ids that are used again', async () => {
  const { odoo, command } = pair
  odoo.write('res.partner', 41, { name: 'Lost' })
  await command('run --once')
  await pair.qm.partners.delete({ x_odoo_id: 41 })
  odoo.write('res.partner', 41, { name: 'Another one', create_date: '2026-11-18 10:00:00' })
  await stops('restored', 'pass --accept-database once')
})

it('a company that the user has lost', async () => {
  pair.odoo.unlink('res.company', 2)
  await stops('companies_shrank', 'Give it back to the user in Odoo.')
})

it('records that Odoo still has, but no longer shows: few of them stay here, for many the connector stops', async () => {
  const { odoo, command, qm } = pair
  odoo.hidden.add(5)
  expect(await command('run --once')).toMatchObject({ code: 0 })
  expect((await command('status')).out).toMatch(/^partner +40 +\S+ +0 +0 +0 +0 +1 +/m)
  expect(await idsOf(qm.partners)).toContain(5)
  for (let id = 1; id <= 30; id++) odoo.hidden.add(id)
  await stops('rights_shrank', 'Give the rights back.')
})

it('a model that the user may not read any more', async () => {
  pair.odoo.answer = ({ model, method }) =>
    model === 'res.partner' && method === 'search_read'
      ? { status: 403, body: { name: 'odoo.exceptions.AccessError', message: 'not allowed' } }
      : undefined
  await stops('rights_shrank', 'Give the right back')
})

it('an API key that expires within a day, or is refused', async () => {
  const { odoo } = pair
  const tomorrow = new Date(Date.now() + 20 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')
  odoo.tables['res.users.apikeys'] = [{ id: 1, expiration_date: tomorrow }]
  await stops('key_expires', 'Create a new key')
  odoo.answer = () => ({
    status: 401,
    body: { name: 'werkzeug.exceptions.Unauthorized', message: 'Invalid apikey' },
  })
  await stops('key_refused', 'set ODOO_KEY')
})

it('an Odoo without JSON-2', async () => {
  pair.odoo.version = [18, 0, 0, 'final', 0, '']
  await stops('mapping_invalid', 'Odoo 19 is the oldest version')
})
