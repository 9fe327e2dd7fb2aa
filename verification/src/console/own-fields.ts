import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { Client, headersFor } from '../client.ts'
import { axeFindingsOn } from './axe.ts'
import type { ConsoleFixture } from './fixture.ts'
import { expectEqual, journey, parameterOf, rows, untilParameter } from './journey.ts'

/** An account with fields of its own, apart from the one of the other journeys, whose columns they expect. */
interface Shop {
  readonly origin: string
  readonly readerKey: string
  readonly post: (path: string, body: string) => Promise<void>
  readonly remove: (path: string) => Promise<void>
}

const productPath = '/api/v1/inventory/product'
const declared = [
  ['x_weight', 'decimal', 'Weight in kg'],
  ['x_sku', 'text', 'Number of the shop'],
  ['x_count', 'integer', ''],
  ['x_fragile', 'boolean', 'Breaks easily'],
  ['x_checked', 'timestamp', 'Last check'],
] as const
const serviceColumns = [
  'ID',
  'Name',
  'Code',
  'Price',
  'On hand',
  'Active',
  'Category',
  'Template',
  'RSD product',
  'Created',
  'Changed',
]
const ownColumns = declared.map(([name, , label]) => (label === '' ? name : label))
/** A JavaScript number has 17 of these digits. */
const exactWeight = '123456789012345678901.5'
const shownWeight = '123,456,789,012,345,678,901.5'
const products = [
  `{"name":"Anchor","x_weight":${exactWeight},"x_sku":"A-1","x_count":3,"x_fragile":true,"x_checked":"2026-11-14T09:30:00Z"}`,
  '{"name":"Bolt","x_weight":12.5,"x_sku":"=B-2","x_fragile":false}',
  '{"name":"Crate"}',
]

async function openShop({ service, server }: ConsoleFixture): Promise<Shop> {
  const account = `own-${Date.now()}`
  const headers = headersFor(account, await service.account(account))
  const readerKey = await service.key(account, 'product:read')
  const client = new Client()
  const send = async (method: string, path: string, body?: string) => {
    const { status, text } = await client.sendUntilAccepted({
      port: server.port,
      method,
      path,
      headers: body === undefined ? headers : [...headers, 'Content-Type', 'application/json'],
      ...(body === undefined ? {} : { body }),
    })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
  }
  const shop: Shop = {
    origin: `http://${account}.localhost:${server.port}`,
    readerKey,
    post: async (path, body) => await send('POST', path, body),
    remove: async (path) => await send('DELETE', path),
  }
  for (const [name, type, label] of declared) await declare(shop, name, type, label)
  for (const product of products) await shop.post(productPath, product)
  return shop
}

async function declare({ post }: Shop, name: string, type: string, label: string): Promise<void> {
  await post('/manage/v1/fields', JSON.stringify({ resource: 'product', name, type, label }))
}

let opened: Shop | undefined

function shopOf(): Shop {
  if (opened === undefined) throw new Error('the first step opens the shop')
  return opened
}

const column = (page: Page, name: string) => page.getByRole('columnheader', { name, exact: true })
const columns = async (page: Page) => await page.getByRole('columnheader').allTextContents()
const cell = (page: Page, name: string) => page.getByRole('gridcell', { name, exact: true })
const editor = (page: Page) =>
  page.getByRole('textbox', { name: 'Filter' }).and(page.locator('[contenteditable]'))

/** Types a filter and applies it. */
async function filterBy(page: Page, text: string): Promise<void> {
  await editor(page).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
  await page.keyboard.press('Enter')
  await untilParameter(page, 'filter', text)
}

/** Fields that an account has declared are like those of the service, for a key that may only read products. */
export const ownFields = journey(
  'own_fields',
  {
    'declared fields are columns after those of the service': async ({ page, fixture }) => {
      opened = await openShop(fixture)
      await page.goto(`${opened.origin}/console/products`)
      await page.getByLabel('API key').fill(opened.readerKey)
      await page.getByLabel('API key').press('Enter')
      await column(page, 'Last check').waitFor()
      expectEqual(await columns(page), [...serviceColumns, ...ownColumns])
    },
    'a head has the label, and values are shown by their type, with every digit': async ({ page }) => {
      const title = await column(page, 'Weight in kg').getAttribute('title')
      expectEqual(title?.startsWith('x_weight (decimal)'), true)
      await cell(page, shownWeight).waitFor()
      await cell(page, '12.5').waitFor()
      await cell(page, '2026-11-14 09:30:00').waitFor()
      expectEqual(await rows(page).nth(3).getByText('null', { exact: true }).count(), 9)
    },
    'completion offers a declared field with its label, and the operators of its type': async ({ page }) => {
      await editor(page).click()
      await page.keyboard.type('x_w')
      await page.getByRole('option', { name: /^x_weight\s*decimal · Weight in kg/ }).click()
      await page.getByRole('option', { name: /at least/ }).waitFor()
      expectEqual(await page.getByRole('option', { name: /contains/ }).count(), 0)
      await page.keyboard.type('>=12.5')
      await page.keyboard.press('Enter')
      await untilParameter(page, 'filter', 'x_weight>=12.5')
      await page.getByText('1–2', { exact: false }).waitFor()
      expectEqual(await rows(page).count(), 3)
    },
    'a condition has the operators and values of its type': async ({ page }) => {
      await page.getByRole('button', { name: 'Add condition' }).click()
      const dialog = page.getByRole('dialog', { name: 'New condition' })
      await dialog.getByLabel('Field').selectOption('x_fragile')
      const operators = await dialog.getByLabel('Operator').locator('option').allTextContents()
      expectEqual(operators, ['is', 'is not', 'is one of', 'is none of', 'is null', 'is not null'])
      await dialog.getByText('Breaks easily').waitFor()
      await dialog.getByText('true', { exact: true }).click()
      await dialog.getByRole('button', { name: 'Apply' }).click()
      await untilParameter(page, 'filter', 'x_weight>=12.5&x_fragile=true')
      await cell(page, 'Anchor').waitFor()
      await cell(page, 'Bolt').waitFor({ state: 'detached' })
    },
    'the side panel shows them, and filters by an exact value': async ({ page }) => {
      await page.keyboard.press('Escape')
      await page.goto(`${shopOf().origin}/console/products?record=1`)
      const panel = page.getByRole('complementary', { name: 'The product 1' })
      await panel.getByText(shownWeight, { exact: true }).waitFor()
      await panel.getByText('A-1', { exact: true }).waitFor()
      await panel.getByRole('button', { name: 'Show only records with this Weight in kg' }).click()
      await untilParameter(page, 'filter', `x_weight=${exactWeight}`)
      await cell(page, 'Bolt').waitFor({ state: 'detached' })
      await cell(page, 'Anchor').waitFor()
    },
    'they are chosen and ordered, copied and exported': async ({ page }) => {
      await page.goto(`${shopOf().origin}/console/products?fields=id,x_sku,x_weight&filter=id<3`)
      await page.getByRole('button', { name: 'Columns' }).click()
      await page.getByRole('button', { name: 'Move Weight in kg up' }).click()
      await untilParameter(page, 'fields', 'id,x_weight,x_sku')
      await page.keyboard.press('Escape')
      await cell(page, '12.5').waitFor()
      await page.getByRole('button', { name: 'Copy' }).click()
      await page.getByRole('menuitem', { name: 'This page as JSON' }).click()
      await page.getByText('2 rows copied as JSON').waitFor()
      const copied = await page.evaluate<string>('navigator.clipboard.readText()')
      expectEqual(copied.includes(`"x_weight": ${exactWeight},`), true)
      expectEqual(copied.includes('"x_weight": 12.5,'), true)
      await page.getByRole('button', { name: 'Request' }).click()
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Export CSV' }).click()
      const csv = readFileSync(await (await download).path(), 'utf8')
      expectEqual(csv, `\uFEFFid,x_weight,'x_sku\r\n1,${exactWeight},"A-1"\r\n2,12.5,"'=B-2"\r\n`)
    },
    'the definitions are loaded once for all pages of a tab': async ({ page }) => {
      let loads = 0
      page.on('request', (request) => (loads += request.url().endsWith('/openapi.json') ? 1 : 0))
      await page.goto(`${shopOf().origin}/console/products`)
      await column(page, 'Last check').waitFor()
      await editor(page).waitFor()
      await page.getByRole('link', { name: 'API reference' }).waitFor()
      await filterBy(page, 'x_count>2')
      await cell(page, 'Bolt').waitFor({ state: 'detached' })
      await filterBy(page, 'x_sku*a')
      await cell(page, 'Anchor').waitFor()
      expectEqual(loads, 1)
    },
    'a field that is declared meanwhile can be used at once': async ({ page }) => {
      await declare(shopOf(), 'x_colour', 'text', 'Colour')
      await filterBy(page, 'x_colour=null')
      await column(page, 'Colour').waitFor()
      expectEqual(await columns(page), [...serviceColumns, ...ownColumns, 'Colour'])
      expectEqual(await page.getByText('has no field').count(), 0)
    },
    'a field that is deleted meanwhile locks no one in': async ({ page }) => {
      await page.goto(`${shopOf().origin}/console/products?fields=id,name,x_colour`)
      await column(page, 'Colour').waitFor()
      await editor(page).waitFor()
      await shopOf().remove('/manage/v1/fields/product.x_colour')
      await filterBy(page, 'id>1')
      await page.getByRole('alert').getByText('no field "x_colour"').first().waitFor()
      await page.getByRole('button', { name: 'Show the other columns' }).click()
      await untilParameter(page, 'fields', 'id,name')
      await cell(page, 'Bolt').waitFor()
      await page.goto(`${shopOf().origin}/console/products`)
      await column(page, 'Last check').waitFor()
      await column(page, 'Colour').waitFor({ state: 'detached' })
      await editor(page).click()
      await page.keyboard.type('x_c')
      await page.getByRole('option', { name: /^x_count/ }).waitFor()
      expectEqual(await page.getByRole('option', { name: /^x_colour/ }).count(), 0)
      await page.keyboard.press('Escape')
    },
    'nothing is inaccessible': async ({ page }) => {
      await page.goto(`${shopOf().origin}/console/products?record=1`)
      await column(page, 'Last check').waitFor()
      expectEqual(await axeFindingsOn(page, 'declared fields'), [])
    },
    'without the definitions the list remains, and says so': async ({ fixture }) => {
      const { origin, readerKey } = shopOf()
      await fixture.withPage({ key: readerKey }, async (page) => {
        await page.route('**/openapi.json', (route) => route.abort())
        await page.goto(`${origin}/console/products?filter=x_weight=12.5`)
        const alert = page.getByRole('alert')
        await alert.getByText("This account's fields could not be loaded").waitFor()
        await cell(page, 'Bolt').waitFor()
        expectEqual(await columns(page), serviceColumns)
        expectEqual(await page.getByText('has no field').count(), 0)
        expectEqual(await axeFindingsOn(page, 'without declared fields'), [])
        await page.unroute('**/openapi.json')
        await alert.getByRole('button', { name: 'Try again' }).click()
        await column(page, 'Last check').waitFor()
        await alert.waitFor({ state: 'detached' })
        expectEqual(parameterOf(page, 'filter'), 'x_weight=12.5')
      })
    },
  },
  { signedIn: false },
)
