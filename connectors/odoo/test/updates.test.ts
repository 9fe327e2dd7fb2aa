import { rmSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import { connectedPairs, whileRuns } from './fixture.ts'

/** Changed fields of partners go to Odoo, unless they were changed there too. The Odoo is a stand-in. */

const connectedPair = await connectedPairs()
let pair: Awaited<ReturnType<typeof connectedPair>>
const back = { partner: { create: false, update: ['email', 'phone'] } }
beforeEach(async () => {
  pair = await connectedPair()
  pair.configure({ back })
  expect(await pair.command('run --once')).toMatchObject({ code: 0 })
})

const inOdoo = (id: number) => pair.odoo.rows('res.partner').find((row) => row.id === id)
const here = (id: number) => pair.qm.partners.get({ x_odoo_id: id }, { fields: ['name', 'email', 'phone'] })
const writes = () => pair.odoo.calls.filter(({ method }) => method === 'write')

it('sends what was changed here only, even while no connector ran and without its state', async () => {
  const { command, qm, odoo, state } = pair
  await qm.partners.update({ x_odoo_id: 1 }, { email: 'new@example.com', name: 'Typed here' })
  await qm.partners.update({ x_odoo_id: 2 }, { email: null })
  odoo.write('res.partner', 2, { phone: '1' })
  rmSync(state)
  expect(await command('run --once')).toMatchObject({ code: 0 })
  expect(inOdoo(1)).toMatchObject({ email: 'new@example.com', name: 'Partner 1' })
  expect(inOdoo(2)).toMatchObject({ email: false, phone: '1' })
  // A field that does not go back has Odoo's value again.
  expect(await here(1)).toEqual({ name: 'Partner 1', email: 'new@example.com', phone: null })
  expect(await here(2)).toMatchObject({ email: null, phone: '1' })
  expect((await command('status')).out).toMatch(/^changes sent to Odoo +2$/m)
  await command('run --once')
  expect(writes()).toHaveLength(2)
})

it('lists a field that was changed on both sides, and overwrites neither, until they are equal', async () => {
  const { command, qm, odoo } = pair
  await qm.partners.update({ x_odoo_id: 1 }, { email: 'here@example.com' })
  odoo.write('res.partner', 1, { email: 'there@example.com', phone: '1' })
  expect(await command('run --once')).toMatchObject({ code: 0 })
  expect(await here(1)).toMatchObject({ email: 'here@example.com', phone: '1' })
  expect(inOdoo(1)).toMatchObject({ email: 'there@example.com' })
  const conflict = /^partner 1 +email is here@example\.com here and there@example\.com in the source$/m
  expect((await command('status')).out).toMatch(conflict)
  await command('run --once')
  expect((await command('status')).out).toMatch(conflict)
  expect(writes()).toEqual([])
  await qm.partners.update({ x_odoo_id: 1 }, { email: 'there@example.com' })
  await command('run --once')
  expect((await command('status')).out).not.toContain('Changed on both sides')
  await qm.partners.update({ x_odoo_id: 1 }, { email: 'later@example.com' })
  await command('run --once')
  expect(inOdoo(1)).toMatchObject({ email: 'later@example.com' })
})

it('does not write if Odoo has another value by then', async () => {
  const { command, qm, odoo } = pair
  await qm.partners.update({ x_odoo_id: 1 }, { email: 'here@example.com' })
  let reads = 0
  odoo.answer = ({ model, method, args }) => {
    // Immediately before the write: one record, by its id.
    const isLast = model === 'res.partner' && method === 'search_read' && args.domain[0]?.[1] === '='
    if (isLast && reads++ === 0) odoo.write('res.partner', 1, { email: 'there@example.com' })
    return undefined
  }
  expect(await command('run --once')).toMatchObject({ code: 0 })
  expect(reads).toBe(1)
  expect(writes()).toEqual([])
  await command('run --once')
  expect((await command('status')).out).toContain('email is here@example.com here and there@example.com')
})

it('sends a change once if the response is lost', async () => {
  const { command, qm, odoo } = pair
  pair.configure({ back, polling: { hot: 0.05 } })
  let lost = 0
  odoo.isLost = ({ method }) => method === 'write' && lost++ === 0
  const stop = new AbortController()
  const running = command('run', stop.signal)
  await qm.partners.update({ x_odoo_id: 1 }, { email: 'new@example.com' })
  await whileRuns(running, () => expect(inOdoo(1)).toMatchObject({ email: 'new@example.com' }))
  await whileRuns(running, async () => expect((await command('status')).out).toMatch(/^phase +running$/m))
  await qm.partners.update({ x_odoo_id: 2 }, { email: 'next@example.com' })
  await whileRuns(running, () => expect(inOdoo(2)).toMatchObject({ email: 'next@example.com' }))
  stop.abort()
  expect(await running).toMatchObject({ code: 0 })
  expect(writes()).toHaveLength(2)
  expect(await here(1)).toMatchObject({ email: 'new@example.com' })
})

it('lists what Odoo does not accept, and does not send it with each poll', async () => {
  const { command, configure, odoo, qm } = pair
  configure({ back, polling: { hot: 0.05, late: 0.1, roll: 0.1 } })
  odoo.answer = ({ method }) =>
    method === 'write'
      ? { status: 422, body: { name: 'odoo.exceptions.ValidationError', message: 'No such address' } }
      : undefined
  const stop = new AbortController()
  const running = command('run', stop.signal)
  await qm.partners.update({ x_odoo_id: 1 }, { email: 'nowhere' })
  await whileRuns(running, async () =>
    expect((await command('status')).out).toMatch(/^partner 1 +No such address$/m),
  )
  const polls = () =>
    odoo.calls.filter(({ model, method }) => model === 'res.partner' && method === 'search_read').length
  const before = polls()
  await whileRuns(running, () => expect(polls()).toBeGreaterThan(before + 4))
  stop.abort()
  await running
  expect(writes()).toHaveLength(1)
  expect(await here(1)).toMatchObject({ email: 'nowhere' })
})

it('rejects fields that cannot go back', async () => {
  pair.configure({ back: { partner: { update: ['name', 'is_customer', 'x_vat'] } } })
  const { code, out } = await pair.command('check')
  expect(code).toBe(1)
  expect(out).toContain('FAULT  back.partner.update: name is made of more than one value of res.partner.')
  expect(out).toContain(
    'FAULT  back.partner.update: customer_rank, integer of res.partner, cannot be written.',
  )
  expect(out).toContain('FAULT  back.partner.update: x_vat is not mapped.')
})
