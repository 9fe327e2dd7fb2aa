import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expectEqual, grouped, journey, parameterOf, rows, untilParameter } from './journey.ts'

/** What a person does with each part of the console, by accessible locators only. */

const rowWith = (page: Page, text: string) => rows(page).filter({ hasText: text })
const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

export const browse = journey(
  'browse',
  {
    'the address / leads to the console': async ({ page, fixture }) => {
      await page.goto(fixture.origin)
      await page.getByRole('heading', { name: 'Sign in to acme' }).waitFor()
    },
    'a wrong key is explained': async ({ page }) => {
      await page.getByLabel('API key').fill('qm_wrong')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('does not accept this key').waitFor()
    },
    'a key opens the products': async ({ page, fixture }) => {
      await page.getByLabel('API key').fill(fixture.key)
      await page.getByLabel('API key').press('Enter')
      await page.getByRole('heading', { name: 'Products' }).waitFor()
      await page.getByText(`of ${grouped(fixture.products)}`).waitFor()
    },
    'j and k move, Enter opens the record, Esc closes it': async ({ page }) => {
      await rows(page).nth(1).waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.keyboard.press('k')
      await page.keyboard.press('Enter')
      await page.getByRole('complementary', { name: 'The product 2' }).getByText('Changed').waitFor()
      expectEqual(parameterOf(page, 'record'), '2')
      await page.keyboard.press('j')
      await untilParameter(page, 'record', '3')
      await page.keyboard.press('Escape')
      await untilParameter(page, 'record', null)
    },
    'pages and page size': async ({ page, fixture }) => {
      await page.keyboard.press('n')
      await page.getByText('51–100').waitFor()
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.getByText('101–150').waitFor()
      await page.keyboard.press('p')
      await page.getByText('51–100').waitFor()
      await page.getByLabel('Rows per page').selectOption('250')
      await page.getByText('1–250').waitFor()
      expectEqual(parameterOf(page, 'page'), null)
      await page.getByLabel('Page', { exact: true }).fill(String(Math.ceil(fixture.products / 250)))
      await page.getByLabel('Page', { exact: true }).press('Enter')
      await page.getByText(`–${grouped(fixture.products)}`).waitFor()
    },
    'columns are chosen and ordered': async ({ page }) => {
      await page.getByRole('button', { name: 'Columns' }).click()
      await page.getByLabel('Template', { exact: true }).click()
      await page.getByRole('button', { name: 'Move Price up' }).click()
      await untilParameter(
        page,
        'fields',
        'id,name,list_price,default_code,qty_available,active,categ_id,is_rsd_product,create_date,write_date',
      )
      await page.keyboard.press('Escape')
      const headers = await page.getByRole('columnheader').allTextContents()
      expectEqual(headers.slice(0, 4), ['ID', 'Name', 'Price', 'Code'])
    },
    'back, forward and reload show the same view': async ({ page }) => {
      const { length } = page.url()
      await page.goBack()
      await page.goBack()
      await page.getByRole('columnheader', { name: 'Template' }).waitFor()
      await page.goForward()
      await page.goForward()
      await page.reload()
      await page.getByRole('columnheader', { name: 'Price' }).waitFor()
      expectEqual(page.url().length, length)
    },
    'the page is copied as JSON and CSV': async ({ page, fixture }) => {
      await page.goto(`${fixture.origin}/console/products?limit=10&fields=id,name`)
      await rows(page).nth(1).waitFor()
      await page.getByRole('button', { name: 'Copy' }).click()
      await page.getByRole('menuitem', { name: 'This page as JSON' }).click()
      await page.getByText('10 rows copied as JSON').waitFor()
      const copied: { id: number }[] = JSON.parse(await clipboard(page))
      expectEqual(
        copied.map(({ id }) => id),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      )
      await page.getByRole('button', { name: 'Copy' }).click()
      await page.getByRole('menuitem', { name: 'This page as CSV' }).click()
      await page.getByText('10 rows copied as CSV').waitFor()
      expectEqual((await clipboard(page)).split('\r\n').length, 12)
    },
    'a decimal has every digit: in the list, copied, in the record and in a filter': async ({
      page,
      fixture,
    }) => {
      const price = '123456789012345678901234.123456789012'
      const shown = '123,456,789,012,345,678,901,234.123456789012'
      await fixture.patch('/api/v1/inventory/product/7', `{"list_price":${price}}`)
      await page.goto(`${fixture.origin}/console/products?filter=id%3D7&fields=id,list_price`)
      await page.getByRole('gridcell', { name: shown, exact: true }).waitFor()
      for (const [format, text] of [
        ['JSON', `[\n  {\n    "id": 7,\n    "list_price": ${price}\n  }\n]`],
        ['CSV', `id,list_price\r\n7,${price}\r\n`],
      ] as const) {
        await page.getByRole('button', { name: 'Copy' }).click()
        await page.getByRole('menuitem', { name: `This page as ${format}` }).click()
        await page.getByText(`1 rows copied as ${format}`).waitFor()
        expectEqual(await clipboard(page), text)
      }
      await page.goto(`${fixture.origin}/console/products?record=7`)
      const panel = page.getByRole('complementary', { name: 'The product 7' })
      await panel.getByText(shown, { exact: true }).waitFor()
      await panel.getByRole('button', { name: 'Show only records with this Price' }).click()
      await untilParameter(page, 'filter', `list_price=${price}`)
      await page.getByText('1–1 of 1').waitFor()
    },
    'a wrong parameter shows the error of the service': async ({ page, fixture }) => {
      await page.goto(`${fixture.origin}/console/products?limit=5000`)
      await page.getByRole('alert').getByText('The limit must be an integer from 1 to 1000').waitFor()
      await page.goto(`${fixture.origin}/console/products?colour=red`)
      await page.getByRole('alert').getByText('no parameter "colour"').waitFor()
      await page.goto(`${fixture.origin}/console/products?page=999999`)
      await page.getByText('This page is beyond the last one').waitFor()
    },
    'partners and companies': async ({ page }) => {
      await page.getByRole('link', { name: 'Companies' }).click()
      await page.getByText('1–12').waitFor()
      await page.getByRole('link', { name: 'Partners' }).click()
      await page.getByRole('columnheader', { name: 'Vendor' }).waitFor()
    },
  },
  { signedIn: false },
)

export const request = journey('request', {
  'r shows the request of the view': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/products?filter=id%3C%3D200&fields=id,name`)
    await rows(page).nth(1).waitFor()
    await page.keyboard.press('r')
    await page.getByRole('complementary', { name: 'Request' }).waitFor()
  },
  'the URL works': async ({ page, fixture }) => {
    await page.getByRole('tab', { name: 'URL', exact: true }).click()
    await page.getByRole('button', { name: 'Copy URL' }).click()
    await page.getByText('Copied').waitFor()
    const url = new URL(await clipboard(page))
    const { status, body } = await fixture.get(url.pathname + url.search)
    const list: { meta: { total: number } } = JSON.parse(body)
    expectEqual([status, list.meta.total], [200, 200])
  },
  'curl, TypeScript and Python have the filter, and never the key': async ({ page, fixture }) => {
    for (const tab of ['curl', 'TypeScript', 'Python']) {
      await page.getByRole('tab', { name: tab }).click()
      await page.getByRole('button', { name: `Copy ${tab}` }).click()
      await page.getByText('Copied').waitFor()
      const text = await clipboard(page)
      if (!text.includes('id<=200') || text.includes(fixture.key)) throw new Error(`${tab}: ${text}`)
    }
  },
  'the response has status, ETag and Server-Timing': async ({ page }) => {
    const panel = page.getByRole('complementary', { name: 'Request' })
    await panel.getByText(/^(?:200 OK|304 Not Modified)$/).waitFor()
    await panel.getByText('W/"').waitFor()
    await panel.getByText('Verify the key').waitFor()
  },
  'CSV and NDJSON are exported completely': async ({ page }) => {
    for (const [button, lines] of [
      ['Export CSV', 202],
      ['Export NDJSON', 202],
    ] as const) {
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: button }).click()
      const path = await (await download).path()
      await page.getByText('200 products exported.').waitFor()
      expectEqual(readFileSync(path, 'utf8').split('\n').length, lines)
    }
  },
})

export const create = journey('create', {
  'an empty name shows the error of the service at the field': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/partners`)
    await page.getByRole('button', { name: 'Create partner' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create partner' }).click()
    await page.getByLabel('Name').and(page.locator('[aria-invalid=true]')).waitFor()
  },
  'a double click creates one partner, which is opened': async ({ page, fixture }) => {
    const name = `Nordwind ${Date.now()}`
    await page.getByLabel('Name').fill(name)
    await page.getByRole('dialog').getByRole('button', { name: 'Create partner' }).dblclick()
    await page.waitForURL((url) => url.searchParams.get('record') !== null)
    await page.getByRole('heading', { name }).waitFor()
    const { body } = await fixture.get(
      `/api/v1/resources/partner?filter=${encodeURIComponent(`name="${name}"`)}`,
    )
    const { meta }: { meta: { total: number } } = JSON.parse(body)
    expectEqual(meta.total, 1)
  },
})

export const keys = journey('keys', {
  'a key is created and shown once': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/keys`)
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('Name').fill('web shop')
    await page.getByLabel('Read partners').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    await page.getByText('It is shown only once').waitFor()
    await page.getByRole('button', { name: 'Copy key' }).click()
    await page.getByText('Copied').waitFor()
    if (!(await clipboard(page)).startsWith('qm_')) throw new Error('the key was not copied')
    await page.getByRole('button', { name: 'Done' }).click()
  },
  'it is rotated with an overlap': async ({ page }) => {
    await rowWith(page, 'web shop').first().click()
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await page.getByRole('button', { name: 'Rotate key' }).click()
    await page.getByText('It is shown only once').waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    await rowWith(page, 'rotating').waitFor()
  },
  'it is revoked by typing its name, and the audit shows it': async ({ page }) => {
    await page.keyboard.press('Escape')
    await rowWith(page, 'rotating').click()
    await page.getByRole('button', { name: 'Revoke', exact: true }).click()
    const dialog = page.getByRole('dialog')
    if (await dialog.getByRole('button', { name: 'Revoke key' }).isEnabled())
      throw new Error('it can be revoked untyped')
    await dialog.getByLabel('Name of the key').fill('web shop')
    await dialog.getByRole('button', { name: 'Revoke key' }).click()
    await rowWith(page, 'revoked').waitFor()
    await page.getByText('key.revoke').waitFor()
  },
  'a key without account:manage sees no administration': async ({ fixture }) => {
    await fixture.withPage({ key: fixture.readerKey }, async (page) => {
      await page.goto(`${fixture.origin}/console/products`)
      await page.getByText(`of ${grouped(fixture.products)}`).waitFor()
      await page.getByRole('link', { name: 'Partners' }).waitFor({ state: 'detached' })
      expectEqual(await page.getByRole('link', { name: 'Keys' }).count(), 0)
      await page.goto(`${fixture.origin}/console/keys`)
      await page.getByRole('alert').getByText('needs the scope account:manage').waitFor()
      await page.getByRole('button', { name: 'Use another key' }).click()
      await page.getByLabel('API key').waitFor()
    })
  },
})

export const usage = journey('usage', {
  'charts and totals': async ({ page, fixture }) => {
    await fixture.get('/api/v1/inventory/product?filter=nope%3D1')
    await page.goto(`${fixture.origin}/console/usage?per=minute`)
    await page.getByRole('figure', { name: 'Requests and errors' }).waitFor()
    await page.getByRole('figure', { name: /Latency percentiles/ }).waitFor()
    await page.getByText('Cached responses').waitFor()
  },
  'one route is chosen': async ({ page }) => {
    await page.getByRole('button', { name: 'GET /api/v1/inventory/product', exact: true }).click()
    await untilParameter(page, 'route', 'GET /api/v1/inventory/product')
    await page.getByRole('button', { name: 'Show everything' }).click()
    await untilParameter(page, 'route', null)
  },
  'dragging over a chart zooms': async ({ page }) => {
    const box = await page.getByRole('figure', { name: 'Requests and errors' }).boundingBox()
    if (box === null) throw new Error('the chart is not visible')
    await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.5)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.95, box.y + box.height * 0.5, { steps: 5 })
    await page.mouse.up()
    await page.waitForURL((url) => url.searchParams.has('from') && url.searchParams.has('to'))
    await page.getByRole('button', { name: 'Show everything' }).click()
    await untilParameter(page, 'from', null)
  },
  'a logged request says why, and opens its list': async ({ page, fixture }) => {
    await page.goto(
      `${fixture.origin}/console/requests?filter=${encodeURIComponent('status>=400&filter=nope=1')}`,
    )
    await rowWith(page, 'request_invalid').first().click()
    await page.getByText('Rejected with 400 request_invalid').waitFor()
    await page.getByRole('button', { name: 'Open this list in the console' }).click()
    await page.getByRole('heading', { name: 'Products' }).waitFor()
    expectEqual(parameterOf(page, 'filter'), 'nope=1')
  },
})

export const palette = journey('palette', {
  'Ctrl-K finds a page': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/products`)
    await rows(page).nth(1).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search commands' }).fill('audit')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
  },
  'it opens a record by its id': async ({ page }) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search commands' }).fill('7')
    await page.getByRole('option', { name: 'Open product 7' }).click()
    await page.getByRole('complementary', { name: 'The product 7' }).waitFor()
  },
  'it finds records by words, and says why': async ({ page, fixture }) => {
    await fixture.patch(
      '/api/v1/resources/partner/5',
      '{"name":"Kestrel Marine","email":"orders@kestrel.example"}',
    )
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search commands' }).fill('orders kestrel')
    const option = page.getByRole('option', { name: /Kestrel Marine/ })
    await option.getByText('Email: orders@kestrel.example').waitFor()
    await option.click()
    await page.getByRole('heading', { name: 'Kestrel Marine' }).waitFor()
    expectEqual(parameterOf(page, 'search'), 'orders kestrel')
    await page.getByText('1–1 of 1').waitFor()
    await page.getByRole('button', { name: 'Remove the search' }).click()
    await untilParameter(page, 'search', null)
  },
  'it filters': async ({ page }) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search commands' }).fill('list_price<5')
    await page.keyboard.press('Enter')
    await untilParameter(page, 'filter', 'list_price<5')
  },
  '? shows the operators of each type': async ({ page }) => {
    await rows(page).nth(1).waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('does not contain').waitFor()
  },
})
