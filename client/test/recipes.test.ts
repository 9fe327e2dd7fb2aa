import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../server/test/at-end.ts'
import { account, type TestAccount } from '../../server/test/database.ts'
import { freshService, startTestService, type TestService } from '../../server/test/service.ts'

/** The guides about keys and about rows of other systems: every command in them, and changed rows, against the real service. */

const root = fileURLToPath(new URL('../..', import.meta.url))
const clientSource = new URL('client-source.ts', import.meta.url).href
const { client: database, url: databaseUrl } = await freshService()

/** The blocks of commands in a guide, and what it says that each of them prints. */
function blocksOf(guide: string): { commands: string; printed: string | undefined }[] {
  const text = readFileSync(join(root, 'docs/guides', guide), 'utf8')
  const found = text.matchAll(/^```sh\n([\s\S]*?)^```\n(?:\s*```text\n([\s\S]*?)^```$)?/gm)
  return Array.from(found, ([, commands = '', printed]) => ({ commands, printed }))
}

/** A folder as a checkout, in which guides are followed for one account. */
class Reader {
  readonly folder = temporaryFolder('recipes')
  readonly #account: TestAccount
  readonly #service: TestService

  private constructor(of: TestAccount, service: TestService) {
    this.#account = of
    this.#service = service
    symlinkSync(join(root, 'examples'), join(this.folder, 'examples'))
  }

  static async start(name: string): Promise<Reader> {
    const reader = await account(database, name, undefined, 'external')
    return new Reader(reader, await startTestService(databaseUrl, { QUARTERMASTER_DEFAULT_ACCOUNT: name }))
  }

  /** Runs commands, and returns what they print. */
  async run(commands: string): Promise<string> {
    const url = `http://127.0.0.1:${this.#service.port}`
    const child = spawn('bash', ['-e', '-c', commands.replaceAll('http://127.0.0.1:8080', url)], {
      cwd: this.folder,
      env: {
        ...process.env,
        PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
        NODE_OPTIONS: `--import=${clientSource}`,
        NODE_NO_WARNINGS: '1',
        QUARTERMASTER_URL: url,
        QUARTERMASTER_KEY: this.#account.key,
        KEY: this.#account.key,
      },
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
    await once(child, 'close')
    if (child.exitCode !== 0) throw new Error(`exited with ${child.exitCode}:\n${output}`)
    return output
  }

  /** Runs every command of a guide, and compares what they print. */
  async follow(guide: string): Promise<void> {
    const blocks = blocksOf(guide)
    expect(blocks.length).toBeGreaterThan(1)
    for (const { commands, printed } of blocks) {
      const output = await this.run(commands)
      expect(output).not.toContain('"status":4')
      if (printed !== undefined) expect(output).toBe(printed)
    }
  }

  replaceIn(file: string, before: string, after: string): void {
    const path = join(this.folder, file)
    const text = readFileSync(path, 'utf8')
    expect(text).toContain(before)
    writeFileSync(path, text.replace(before, after))
  }

  /** All products, without their ids and dates. */
  async products(): Promise<unknown[]> {
    const { body } = await this.#service.request(this.#account, 'GET', '/api/v1/inventory/product?limit=100')
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the service responds
    const { data } = body as { data: Record<string, unknown>[] }
    const assigned = new Set(['id', 'create_date', 'write_date'])
    return data.map((record) =>
      Object.fromEntries(Object.entries(record).filter(([name]) => !assigned.has(name))),
    )
  }

  async createDates(): Promise<unknown> {
    const path = '/api/v1/inventory/product?fields=create_date'
    const { body } = await this.#service.request(this.#account, 'GET', path)
    return body
  }

  async create(record: object): Promise<void> {
    expect((await this.#service.post(this.#account, '/api/v1/inventory/product', record)).status).toBe(201)
  }
}

const builtIn = { default_code: null, categ_id: null, product_tmpl_id: null, is_rsd_product: null }
const unchanged = '{"read":2,"inserted":0,"updated":0,"unchanged":2,"deleted":0,"rejected":0}\ndeleted 0\n'

it('every request of "Which ids and keys?" works', async () => {
  const reader = await Reader.start('keys')
  await reader.follow('ids-and-keys.md')
  const bolt = { name: 'Hex bolt M8 × 40', list_price: 0, qty_available: 0, active: true }
  // By the ids: that of the sender, and two of Quartermaster.
  expect(await reader.products()).toEqual([
    { ...bolt, ...builtIn, x_sku: null },
    { ...bolt, ...builtIn, x_sku: null },
    { ...bolt, ...builtIn, x_sku: 'BLT-M8-040' },
  ])
})

it('every command of "Both ways with an ERP" works', async () => {
  await (await Reader.start('erp')).follow('erp-sync.md')
})

it('rows of Odoo become products, and follow them', async () => {
  const reader = await Reader.start('odoo')
  await reader.follow('from-odoo.md')
  const own = { ...builtIn, name: 'Created here', list_price: 0, qty_available: 0, active: true }
  await reader.create({ name: 'Created here' })
  const fields = {
    x_odoo_id: null,
    x_barcode: null,
    x_category: null,
    x_weight: null,
    x_odoo_write_date: null,
  }
  const desk = {
    name: 'Desk',
    default_code: null,
    list_price: 12.5,
    qty_available: 3,
    active: true,
    categ_id: 7,
    product_tmpl_id: 9,
    is_rsd_product: null,
    x_odoo_id: 17,
    x_barcode: '4006381333931',
    x_category: 'All / Office',
    x_weight: 0.3,
    x_odoo_write_date: '2026-11-14T09:30:00.000Z',
  }
  const chair = {
    name: 'Chair',
    default_code: 'CH-18',
    list_price: 49,
    qty_available: 0,
    active: false,
    categ_id: null,
    product_tmpl_id: 10,
    is_rsd_product: null,
    x_odoo_id: 18,
    x_barcode: null,
    x_category: null,
    x_weight: 0,
    x_odoo_write_date: '2026-11-15T16:04:59.000Z',
  }
  const run = 'node examples/from-odoo.ts odoo-products.json --replace'
  expect(await reader.products()).toEqual([desk, chair, { ...own, ...fields }])
  expect(await reader.createDates()).toMatchObject({
    data: [{ create_date: '2026-11-14T09:30:00.000Z' }, { create_date: '2026-11-14T09:31:07.000Z' }, {}],
  })

  reader.replaceIn('odoo-products.json', '"qty_available":3.0', '"qty_available":2.5')
  reader.replaceIn('odoo-products.json', '"categ_id":[7,"All / Office"]', '"categ_id":8')
  expect(await reader.run(run)).toContain('"updated":1,"unchanged":1,')
  const changed = { ...desk, qty_available: 2.5, categ_id: 8, x_category: null }
  expect(await reader.products()).toEqual([changed, chair, { ...own, ...fields }])

  reader.replaceIn('odoo-products.json', '"id":18', '"id":19')
  expect(await reader.run(run)).toContain(
    '"inserted":1,"updated":0,"unchanged":1,"deleted":0,"rejected":0}\ndeleted 1',
  )
  expect(await reader.products()).toEqual([changed, { ...own, ...fields }, { ...chair, x_odoo_id: 19 }])
  expect(await reader.run(run)).toBe(unchanged)

  writeFileSync(join(reader.folder, 'empty.json'), '[]')
  await expect(reader.run('node examples/from-odoo.ts empty.json --replace')).rejects.toThrow('has no rows')
  // A rejected row may be one of those that would be deleted.
  reader.replaceIn('odoo-products.json', '"id":19,"name":"Chair"', '"id":20,"name":false')
  await expect(reader.run(run)).rejects.toThrow('20: name is not a text')
  expect(await reader.products()).toHaveLength(3)
  reader.replaceIn('odoo-products.json', '"id":20,"name":false', '"id":20,"name":"Stool"')
  // Without --replace nothing is deleted.
  expect(await reader.run('node examples/from-odoo.ts odoo-products.json')).toContain('"inserted":1')
  expect(await reader.products()).toHaveLength(4)
})

it('rows of ERPNext become products, and follow them', async () => {
  const reader = await Reader.start('erpnext')
  await reader.follow('from-erpnext.md')
  const desk = {
    ...builtIn,
    name: 'Desk',
    default_code: 'SKU-0017',
    list_price: 12.5,
    qty_available: 0.3,
    active: true,
    x_item_code: 'SKU-0017',
    x_item_group: 'Furniture',
    x_unit: 'Nos',
    x_weight: 14.5,
    x_erpnext_modified: '2026-11-14T09:30:00.123Z',
  }
  const cable = {
    ...builtIn,
    name: 'Kabel',
    default_code: 'Kabel 3×1,5 mm²',
    list_price: 0,
    qty_available: 0,
    active: false,
    x_item_code: 'Kabel 3×1,5 mm²',
    x_item_group: 'Material',
    x_unit: 'Meter',
    x_weight: 0,
    x_erpnext_modified: '2026-11-15T16:04:59.999Z',
  }
  const run = (zone: string) =>
    reader.run(`node examples/from-erpnext.ts items.json prices.json bins.json ${zone} --replace`)
  expect(await reader.products()).toEqual([desk, cable])
  // In winter the clock of Berlin is an hour ahead of UTC, in summer two.
  expect(await reader.createDates()).toMatchObject({
    data: [{ create_date: '2026-11-14T09:30:00.123Z' }, { create_date: '2026-06-30T22:15:00.000Z' }],
  })

  reader.replaceIn('bins.json', '"actual_qty":0.2', '"actual_qty":-0.1')
  reader.replaceIn('items.json', '"disabled":1', '"disabled":0')
  expect(await run('Europe/Berlin')).toContain('"updated":2,"unchanged":0,')
  expect(await reader.products()).toEqual([
    { ...desk, qty_available: 0 },
    { ...cable, active: true },
  ])

  // A quarter of an hour after the clocks went forward in Berlin; elsewhere the day had begun.
  reader.replaceIn('items.json', '2026-07-01 00:15:00.000900', '2026-03-29 03:15:00')
  expect(await run('Europe/Berlin')).toContain('"updated":1')
  expect(await reader.createDates()).toMatchObject({
    data: [{}, { create_date: '2026-03-29T01:15:00.000Z' }],
  })
  expect(await run('Asia/Kolkata')).toContain('"updated":2')
  expect(await reader.createDates()).toMatchObject({
    data: [{}, { create_date: '2026-03-28T21:45:00.000Z' }],
  })

  reader.replaceIn('items.json', 'SKU-0017', 'SKU-0018')
  expect(await run('Asia/Kolkata')).toContain(
    '"inserted":1,"updated":0,"unchanged":1,"deleted":0,"rejected":0}\ndeleted 1',
  )
  expect(await run('Asia/Kolkata')).toBe(unchanged)
})

it('rows of Business Central become products, and follow them', async () => {
  const reader = await Reader.start('central')
  await reader.follow('from-business-central.md')
  const desk = {
    ...builtIn,
    name: 'ATHENS Desk',
    default_code: '1896-S',
    list_price: 1000.8,
    qty_available: 4,
    active: true,
    x_bc_id: '5d115c9c-44e3-ea11-bb43-000d3a2feca1',
    x_gtin: null,
    x_category: 'TABLE',
    x_unit: 'PCS',
    x_bc_modified: '2026-11-14T09:30:00.123Z',
  }
  const nameless = {
    ...builtIn,
    name: '1900-S',
    default_code: '1900-S',
    list_price: 192.8,
    qty_available: -2.5,
    active: false,
    x_bc_id: '62115c9c-44e3-ea11-bb43-000d3a2feca1',
    x_gtin: '4006381333931',
    x_category: null,
    x_unit: 'PCS',
    x_bc_modified: null,
  }
  expect(await reader.products()).toEqual([desk, nameless])
  const run = (files: string) => reader.run(`node examples/from-business-central.ts ${files} --replace`)

  // Renumbered: the GUID says that it is the same item.
  reader.replaceIn('page-1.json', '"number":"1896-S"', '"number":"1896-T"')
  expect(await run('page-1.json page-2.json')).toContain('"updated":1,"unchanged":1,')
  expect(await reader.products()).toEqual([{ ...desk, default_code: '1896-T' }, nameless])

  expect(await run('page-2.json')).toContain('"unchanged":1,"deleted":0,"rejected":0}\ndeleted 1')
  expect(await reader.products()).toEqual([nameless])
})

it('rows of a CSV become products, and follow them', async () => {
  const reader = await Reader.start('csv')
  await reader.follow('from-csv.md')
  const desk = {
    ...builtIn,
    name: 'Desk "Oslo"; oak',
    list_price: 1234.5,
    qty_available: 3,
    active: true,
    x_sku: '00471',
    x_ean: '4006381333931',
    x_weight: 14.5,
  }
  const chair = {
    ...builtIn,
    name: 'Chair',
    list_price: 49,
    qty_available: 0,
    active: false,
    x_sku: 'CH-18',
    x_ean: null,
    x_weight: null,
  }
  const run = 'node examples/from-csv.ts products.csv --replace'
  expect(await reader.products()).toEqual([desk, chair])

  reader.replaceIn('products.csv', ';49;', ';"48,50";')
  expect(await reader.run(run)).toContain('"updated":1,"unchanged":1')
  expect(await reader.products()).toEqual([desk, { ...chair, list_price: 48.5 }])

  // As Windows writes it.
  const path = join(reader.folder, 'products.csv')
  writeFileSync(path, `\uFEFF${readFileSync(path, 'utf8').replaceAll('\n', '\r\n')}`)
  expect(await reader.run(run)).toBe(unchanged)

  reader.replaceIn('products.csv', 'CH-18;Chair;"48,50";0;yes;;;"two\r\nlines"\r\n', '')
  expect(await reader.run(run)).toContain('"unchanged":1,"deleted":0,"rejected":0}\ndeleted 1')
  expect(await reader.products()).toEqual([desk])

  for (const [before, after, message] of [
    ['00471;', ';', 'x_sku is required'],
    ['Stock;', 'Quantity;', 'has no column "Stock"'],
    ['"Desk', '"Desk"', 'Record 2'],
  ] as const) {
    const text = readFileSync(path, 'utf8')
    reader.replaceIn('products.csv', before, after)
    await expect(reader.run(run)).rejects.toThrow(message)
    writeFileSync(path, text)
  }
  expect(await reader.products()).toHaveLength(1)
})
