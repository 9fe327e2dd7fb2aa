import { rmSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import { connectedPairs, idsOf, whileRuns } from './fixture.ts'

/** Partners that are created here go to Odoo. The Odoo is a stand-in whose `load` behaves as that of Odoo 19 was seen to. */

const connectedPair = await connectedPairs()
let pair: Awaited<ReturnType<typeof connectedPair>>
beforeEach(async () => {
  pair = await connectedPair()
  pair.configure({ back: { partner: { filter: 'is_customer=true' } } })
  expect(await pair.command('run --once')).toMatchObject({ code: 0 })
})

const bornInOdoo = () => pair.odoo.rows('res.partner').filter((row) => row['create_uid'] === 5)

it('creates them once, in their order, and keeps the record here', async () => {
  const { command, qm, odoo, state } = pair
  const names = Array.from({ length: 55 }, (_, i) => `Born ${i}`)
  const ids: number[] = []
  for (const name of names)
    ids.push((await qm.partners.create({ name, email: 'a@example.com', is_customer: true })).id)
  await qm.partners.create({ name: 'No customer' })
  expect((await command('plan')).out).toContain('Partners to create in Odoo: 55')
  expect(await command('run --once')).toMatchObject({ code: 0 })
  expect(bornInOdoo().map(({ name }) => name)).toEqual(names)
  expect(bornInOdoo()[0]).toMatchObject({
    email: 'a@example.com',
    phone: false,
    customer_rank: 1,
    active: true,
  })
  const born = await qm.partners.get(ids[7] ?? 0)
  expect(born).toMatchObject({ name: 'Born 7', x_odoo_id: bornInOdoo()[7]?.id })
  // A changed name comes back from Odoo to the same record, even if the state is lost.
  odoo.write('res.partner', born.x_odoo_id ?? 0, { name: 'Renamed in Odoo' })
  rmSync(state)
  await command('run --once')
  expect(await qm.partners.get(born.id)).toMatchObject({ name: 'Renamed in Odoo' })
  expect(bornInOdoo()).toHaveLength(55)
  expect((await qm.partners.list({ limit: 1 })).meta.total).toBe(96)
})

it('creates one partner if the answer is lost', async () => {
  const { command, qm, odoo } = pair
  await qm.partners.create({ name: 'Once', is_customer: true })
  let lost = 0
  odoo.isLost = ({ method }) => method === 'load' && lost++ < 2
  expect(await command('run --once')).toMatchObject({ code: 0 })
  expect(lost).toBe(3)
  expect(bornInOdoo()).toHaveLength(1)
  expect(await idsOf(qm.partners)).toHaveLength(41)
})

it('creates one partner if the connector ends before it has stored the id, and its state is lost', async () => {
  const { command, qm, odoo, state } = pair
  await qm.partners.create({ name: 'Once', is_customer: true })
  const stop = new AbortController()
  odoo.isLost = ({ method }) => {
    if (method === 'load') stop.abort()
    return method === 'load'
  }
  await command('run', stop.signal)
  expect(bornInOdoo()).toHaveLength(1)
  expect((await qm.partners.list({ filter: 'x_odoo_id=null' })).meta.total).toBe(1)
  odoo.isLost = () => false
  rmSync(state)
  expect(await command('run --once')).toMatchObject({ code: 0 })
  expect(bornInOdoo()).toHaveLength(1)
  expect(await idsOf(qm.partners)).toHaveLength(41)
})

it('recognises a partner that comes back although the way back is off', async () => {
  const { command, configure, qm } = pair
  const { id } = await qm.partners.create({ name: 'Once', is_customer: true })
  await command('run --once')
  await qm.partners.update(id, { x_odoo_id: null })
  configure({})
  expect(await command('run --once')).toMatchObject({ code: 0 })
  expect(await qm.partners.get(id)).toMatchObject({ x_odoo_id: bornInOdoo()[0]?.id })
  expect(await idsOf(qm.partners)).toHaveLength(41)
})

it('lists a partner that Odoo does not accept, creates the others, and tries again when it is changed', async () => {
  const { command, configure, odoo, qm } = pair
  configure({ back: { partner: true }, polling: { hot: 0.05 } })
  for (const name of ['A', 'B', 'C']) await qm.partners.create({ name })
  const [, second] = (await qm.partners.list({ filter: 'x_odoo_id=null', fields: ['id'] })).data
  odoo.refused.add('B')
  const stop = new AbortController()
  const running = command('run', stop.signal)
  await whileRuns(running, () => expect(bornInOdoo().map(({ name }) => name)).toEqual(['A', 'C']))
  await whileRuns(running, async () =>
    expect((await command('status')).out).toMatch(
      new RegExp(`^partner ${second?.id} +Odoo does not accept B$`, 'm'),
    ),
  )
  odoo.refused.clear()
  await qm.partners.update(second?.id ?? 0, { name: 'B2' })
  await whileRuns(running, () => expect(bornInOdoo().map(({ name }) => name)).toEqual(['A', 'C', 'B2']))
  stop.abort()
  expect(await running).toMatchObject({ code: 0 })
})

it('stops if the user may not create partners', async () => {
  const { command, odoo, qm } = pair
  await qm.partners.create({ name: 'A', is_customer: true })
  odoo.answer = ({ method }) =>
    method === 'load'
      ? { status: 403, body: { name: 'odoo.exceptions.AccessError', message: 'no' } }
      : undefined
  expect(await command('run --once')).toMatchObject({
    code: 3,
    err: expect.stringContaining('set back.partner to false'),
  })
})
