import { rmSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'
import { connectedPairs, idsOf, whileRuns } from './fixture.ts'
import { now, product } from './stand-in.ts'

/**
 * The command against the real service and a stand-in for Odoo: the mapping, what is written and what is not. That polling loses nothing
 * is proved on a real Odoo: `npm run verify -- odoo`.
 */

const connectedPair = await connectedPairs()
let pair: Awaited<ReturnType<typeof connectedPair>>
beforeEach(async () => {
  pair = await connectedPair()
})

it('check prints what a run needs, and plan what it would write; both write nothing', async () => {
  const { command, odoo, qm } = pair
  const checked = await command('check')
  expect(checked.err).toBe('')
  expect(checked.code).toBe(0)
  expect(checked.out).toMatch(/^product\.product +300 rows +ok$/m)
  expect(checked.out).toMatch(/^ {2}list_price +decimal +lst_price +float$/m)
  expect(checked.out).toContain('run declares product.x_odoo_id, partner.x_odoo_id, company.x_odoo_id')
  const planned = await command('plan')
  expect(planned.out).toMatch(/^product +300 +0 +300 +0 +0 +0 +0$/m)
  expect((await qm.manage.fields.list()).data).toEqual([])
  odoo.answer = ({ model }) =>
    model === 'stock.move.line' ? { status: 403, body: { name: 'AccessError', message: 'no' } } : undefined
  const lacking = await command('check')
  expect(lacking.code).toBe(1)
  expect(lacking.out).toMatch(/^stock\.move\.line +no +FAULT: give the user the right/m)
})

it('run copies everything, and the second run writes nothing, with its state or without', async () => {
  const { command, qm, state } = pair
  const first = await command('run --once')
  expect(first).toMatchObject({ code: 0 })
  expect(first.err).toContain('product: 300 rows')
  expect(await qm.products.get({ x_odoo_id: 17 })).toMatchObject({
    name: 'Product 17',
    default_code: 'P-17',
    list_price: 10.17,
    qty_available: 3,
    product_tmpl_id: 5017,
    create_date: '2026-03-01T10:00:00.000Z',
  })
  expect(await qm.partners.get({ x_odoo_id: 3 })).toMatchObject({
    is_company: true,
    is_customer: true,
    phone: null,
  })
  expect(await qm.companies.get({ x_odoo_id: 2 })).toMatchObject({ name: 'Company 2', branch_user: '00002' })
  const version = (await qm.products.list({ limit: 1 })).version
  await command('run --once')
  rmSync(state)
  expect(await command('run --once')).toMatchObject({ code: 0 })
  expect((await qm.products.list({ limit: 1 })).version).toBe(version)
  expect((await command('status')).out).toMatch(/^product +300 +\S+ +0 +0 +0 +0 +0 +/m)
  expect((await command('plan')).out).toMatch(/^product +300 +300 +0 +0 +300 +0 +0$/m)
})

it('changes, new records and deletes arrive', async () => {
  const { command, odoo, qm } = pair
  await command('run --once')
  odoo.write('product.product', 5, { name: 'Renamed', lst_price: 0.1 + 0.2 })
  odoo.write('product.product', 900, product(900, { write_date: now() }))
  odoo.unlink('product.product', 7, 8)
  await command('run --once')
  expect(await qm.products.get({ x_odoo_id: 5 })).toMatchObject({ name: 'Renamed', list_price: 0.3 })
  const ids = await idsOf(qm.products)
  expect(ids).toHaveLength(299)
  expect(ids).toContain(900)
  expect(ids).not.toContain(7)
})

it('a run keeps the copy in step until it is stopped, and serves its metrics', async () => {
  const { command, configure, odoo, qm } = pair
  configure({ polling: { hot: 0.05, late: 0.1, sweep: 0.2, roll: 0.2 } })
  const stop = new AbortController()
  const address = `127.0.0.1:${await freePort()}`
  const running = command(`run --listen ${address}`, stop.signal)
  await whileRuns(running, async () => expect(await idsOf(qm.products)).toHaveLength(300))
  odoo.write('res.partner', 4, { name: 'Moved' })
  // Without a trace in the record itself: by its move line, and by the rolling sweep.
  odoo.write('product.product', 9, { qty_available: 77, write_date: '2026-03-01 10:00:00' })
  odoo.write('stock.move.line', 1, { product_id: 9 })
  odoo.write('product.product', 10, { name: 'By SQL', write_date: '2026-03-01 10:00:00' })
  odoo.unlink('res.partner', 6)
  await whileRuns(running, async () => {
    expect(await qm.partners.get({ x_odoo_id: 4 })).toMatchObject({ name: 'Moved' })
    expect(await qm.products.get({ x_odoo_id: 9 })).toMatchObject({ qty_available: 77 })
    expect(await qm.products.get({ x_odoo_id: 10 })).toMatchObject({ name: 'By SQL' })
    expect(await idsOf(qm.partners)).not.toContain(6)
  })
  // What somebody else writes into a mapped field gets the value of Odoo again; other records stay.
  await qm.products.update({ x_odoo_id: 11 }, { name: 'Typed here' })
  await qm.products.delete({ x_odoo_id: 12 })
  const { id } = await qm.products.create({ name: 'Only here' })
  await whileRuns(running, async () => {
    expect(await qm.products.get({ x_odoo_id: 11 })).toMatchObject({ name: 'Product 11' })
    expect(await idsOf(qm.products)).toContain(12)
  })
  expect(await qm.products.get(id)).toMatchObject({ name: 'Only here' })
  expect(await (await fetch(`http://${address}/metrics`)).text()).toMatch(
    /^quartermaster_connector_records\{resource="product"\} 300$/m,
  )
  stop.abort()
  expect(await running).toMatchObject({ code: 0 })
  expect((await command('status')).out).toMatch(/^phase +running$/m)
})

it('rows that the service rejects are counted, and do not stop the others', async () => {
  const { command, odoo, qm } = pair
  odoo.write('product.product', 5, { name: 'x'.repeat(100_000) })
  expect(await command('run --once')).toMatchObject({ code: 0 })
  expect(await idsOf(qm.products)).toHaveLength(299)
  expect((await command('status')).out).toMatch(/^product +299 +\S+ +299 +0 +0 +1 +0 +/m)
})

describe('the mapping', () => {
  it('takes any field of Odoo to a field that it declares', async () => {
    const { command, configure, odoo, qm } = pair
    odoo.write('product.product', 1, { barcode: '4006381333931' })
    configure({
      resources: {
        product: { fields: { x_barcode: 'barcode', default_code: null }, domain: [['id', '>', 0]] },
      },
    })
    expect(await command('run --once')).toMatchObject({ code: 0 })
    expect(await qm.products.get({ x_odoo_id: 1 })).toMatchObject({
      x_barcode: '4006381333931',
      default_code: null,
    })
  })

  it('stops a run if Odoo lacks a field, or has it with another type', async () => {
    const { command, configure } = pair
    configure({ resources: { product: { fields: { x_colour: 'colour', active: 'name' } } } })
    const stopped = await command('run --once')
    expect(stopped.code).toBe(3)
    expect(stopped.err).toContain(
      'stopped (mapping_invalid): product.active: name is a char, which cannot become boolean. product.x_colour: product.product has no colour.',
    )
    expect((await command('check')).out).toContain('FAULT  product.x_colour: product.product has no colour.')
  })

  it('is rejected with every fault if it has unknown members', async () => {
    const { command, configure } = pair
    configure({ resource: {}, resources: { product: { fields: { colour: 'x' } } }, polling: { hot: 0 } })
    const { code, err } = await command('check')
    expect(code).toBe(1)
    expect(err.split('\n')).toMatchObject([
      'ConfigInvalid: resource is unknown. Known: odoo, quartermaster, resources, back, polling.',
      'resources.product.fields.colour: a product has no such field. Names of fields that you declare begin with x_.',
      'polling.hot is not a number above 0.',
      '',
    ])
  })
})

it('wrong arguments exit with 2 and the usage', async () => {
  const { command } = pair
  expect(await command('sync')).toMatchObject({ code: 2, err: expect.stringContaining('Pass one command.') })
})
