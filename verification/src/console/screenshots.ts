import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { ConsoleFixture } from './fixture.ts'

/** `npm run screenshots` writes the pictures of docs/console.md, from a service with generated data. */

interface Shot {
  readonly path: string
  /** Also dark, and at the width of a phone. */
  readonly isMain?: boolean
  readonly signedOut?: boolean
  readonly prepare?: (page: Page) => Promise<unknown>
}

const folder = fileURLToPath(new URL('../../../docs/console/', import.meta.url))
/** The rows, and the editor of the filter, which is loaded after them and replaces a plain input. */
const rows = async (page: Page) => {
  await page.getByRole('grid').getByRole('row').nth(1).waitFor()
  await page.locator('[contenteditable=true]').waitFor({ state: 'attached' })
}

const shots: Readonly<Record<string, Shot>> = {
  'sign-in': { path: '', signedOut: true, prepare: (page) => page.getByLabel('API key').waitFor() },
  products: {
    path: '/products?filter=active=true%26(categ_id[3,7]|name*bolt)%26list_price%3E100',
    isMain: true,
    prepare: rows,
  },
  record: { path: '/products?record=5', isMain: true, prepare: rows },
  request: {
    path: '/products?filter=name*bolt%26list_price%3C50&fields=id,name,list_price&panel=request',
    isMain: true,
    prepare: rows,
  },
  completion: {
    path: '/products',
    prepare: async (page) => {
      await rows(page)
      await page.locator('[contenteditable=true]').waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('active=true&cre')
      await page.getByRole('option', { name: /create_date/ }).waitFor()
    },
  },
  'filter-error': {
    path: '/products',
    prepare: async (page) => {
      await rows(page)
      await page.locator('[contenteditable=true]').waitFor()
      await page.keyboard.press('/')
      await page.keyboard.insertText('categ_id[3,7&active=true')
      await page.getByText('is not closed').waitFor()
    },
  },
  condition: {
    path: '/products?filter=active=true',
    prepare: async (page) => {
      await rows(page)
      await page.getByRole('button', { name: 'Add condition' }).click()
      await page.getByLabel('Field').selectOption('create_date')
      await page.getByRole('button', { name: /^15 / }).first().click()
    },
  },
  error: { path: '/products?filter=list_prise%3E10', prepare: (page) => page.getByRole('alert').waitFor() },
  'create-partner': { path: '/partners?dialog=create', prepare: (page) => page.getByLabel('Name').waitFor() },
  keys: {
    path: '/keys',
    isMain: true,
    prepare: async (page) => {
      await page.getByRole('row').filter({ hasText: 'web shop' }).first().click()
      await page.getByText('key.create').waitFor()
    },
  },
  'create-key': { path: '/keys?dialog=create', prepare: (page) => page.getByLabel('Name').waitFor() },
  'own-fields': {
    path: '/companies?fields=id,name,x_vat,x_turnover,x_founded&filter=x_turnover>1000000&record=3',
    prepare: async (page) => {
      await rows(page)
      await page.getByRole('complementary').getByText('Founded').waitFor()
      await page.keyboard.press('/')
      await page.keyboard.press('End')
      await page.keyboard.type('&x_')
      await page.getByRole('option', { name: /x_vat/ }).waitFor()
    },
  },
  import: {
    path: '/import?resource=product',
    prepare: async (page) => {
      const lines = Array.from({ length: 240 }, (_, row) => `${row + 2},${row === 6 ? 'cheap' : row + 0.5}`)
      await page.getByLabel('CSV file').setInputFiles({
        name: 'prices.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(`id,Price\n${lines.join('\n')}\n`),
      })
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.getByRole('region', { name: 'Preview' }).waitFor()
    },
  },
  changes: {
    path: '/companies',
    prepare: async (page) => {
      const feed = page.waitForResponse((response) => response.url().includes('/changes?since=now'))
      await Promise.all([feed, page.reload()])
      await page.goto(new URL('/console/changes?resource=company', page.url()).href)
      await page.getByRole('region', { name: 'Deleted' }).waitFor()
      await page.getByText('created or changed').waitFor()
    },
  },
  webhooks: {
    path: '/webhooks',
    prepare: async (page) => {
      await rows(page)
      await page.getByRole('row').filter({ hasText: 'active' }).click()
      await page.getByRole('listitem').filter({ hasText: '401' }).waitFor()
    },
  },
  audit: { path: '/audit', prepare: rows },
  requests: {
    path: '/requests?filter=status%3E=400',
    isMain: true,
    prepare: async (page) => {
      await page.getByRole('row').filter({ hasText: 'request_invalid' }).first().click()
      await page.getByText('Rejected with 400').waitFor()
    },
  },
  usage: {
    path: '/usage?per=minute',
    isMain: true,
    prepare: (page) => page.getByRole('figure', { name: /Latency/ }).waitFor(),
  },
  palette: {
    path: '/products',
    isMain: true,
    prepare: async (page) => {
      await rows(page)
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search commands' }).fill('name*bolt')
    },
  },
  help: {
    path: '/products',
    isMain: true,
    prepare: async (page) => {
      await rows(page)
      await page.keyboard.press('?')
      await page.getByText('Operators of each type').waitFor()
    },
  },
}

/** Requests, keys and declared fields, so that no page is empty. */
async function useService(fixture: ConsoleFixture): Promise<void> {
  const post = async (path: string, body?: unknown) =>
    await fetch(`http://127.0.0.1:${fixture.server.port}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${fixture.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  for (const [name, expires_at] of [
    ['web shop', '2027-02-12'],
    ['warehouse sync', null],
    ['reporting', '2027-11-01'],
  ] as const) {
    await post('/manage/v1/keys', { name, scopes: ['product:read', 'partner:read'], expires_at })
  }
  fixture.receiver.respond = () => ({ status: 401 })
  const webhook = await post('/manage/v1/webhooks', { resource: 'product', url: fixture.receiver.url })
  const { data }: { data: { id: string } } = JSON.parse(await webhook.text())
  await post(`/manage/v1/webhooks/${data.id}/activate`)
  await post(`/manage/v1/webhooks/${data.id}/test`)
  for (const [name, type, label] of [
    ['x_vat', 'text', 'VAT number'],
    ['x_turnover', 'decimal', 'Turnover of the last year, in EUR'],
    ['x_founded', 'timestamp', 'Founded'],
  ] as const) {
    await post('/manage/v1/fields', { resource: 'company', name, type, label })
  }
  for (let id = 1; id <= 12; id++) {
    const values = { x_vat: `DE${811_907_980 + id * 7}`, x_turnover: id * 412_305.75 }
    const body = JSON.stringify({ ...values, x_founded: `${1970 + id * 3}-04-01T00:00:00Z` })
    await fixture.patch(`/api/v1/resources/company/${id}`, body)
  }
  for (let minute = 0; minute < 3; minute++) {
    for (let i = 0; i < 40 + 25 * minute; i++) {
      await fixture.get(`/api/v1/inventory/product?limit=${(i % 9) + 1}&filter=name*bo`)
      if (i % 3 === 0) await fixture.get(`/api/v1/resources/partner?page=${i + 1}`)
      if (i % 11 === 0) await fixture.get('/api/v1/inventory/product?filter=list_prise%3E10')
    }
    // Usage is counted by minute.
    if (minute < 2 && !process.argv.includes('--fast'))
      await new Promise((resolve) => setTimeout(resolve, 61_000))
  }
  await fixture.get('/manage/v1/usage')
  await new Promise((resolve) => setTimeout(resolve, 3_000))
}

async function take(
  fixture: ConsoleFixture,
  name: string,
  shot: Shot,
  scheme: 'light' | 'dark',
  width: number,
) {
  await fixture.withPage(
    { scheme, width, ...(shot.signedOut === true ? {} : { key: fixture.key }) },
    async (page) => {
      await page.goto(`${fixture.origin}/console${shot.path}`, { waitUntil: 'networkidle' })
      await shot.prepare?.(page)
      await page.evaluate(
        'Promise.all(document.getAnimations().filter((one) => one.effect.getTiming().iterations !== Infinity).map((one) => one.finished))',
      )
      await page.waitForTimeout(300)
      await page.screenshot({ path: `${folder}${name}-${scheme}-${width}.png` })
    },
  )
}

mkdirSync(folder, { recursive: true })
const only = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const fixture = await ConsoleFixture.start(20_000)
try {
  await useService(fixture)
  for (const [name, shot] of Object.entries(shots)) {
    if (only.length > 0 && !only.includes(name)) continue
    for (const scheme of ['light', 'dark'] as const) {
      for (const width of [1280, 390]) {
        if (shot.isMain !== true && (scheme === 'dark' || width === 390)) continue
        await take(fixture, name, shot, scheme, width)
        console.log(`docs/console/${name}-${scheme}-${width}.png`)
      }
    }
  }
} finally {
  await fixture.stop()
}
