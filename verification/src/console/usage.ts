import type { Page } from 'playwright-core'
import { waitUntil } from '../wait-until.ts'
import type { ConsoleFixture } from './fixture.ts'
import { expectEqual, journey, parameterOf, untilParameter } from './journey.ts'

const list = 'GET /api/v1/inventory/product'
const record = 'GET /api/v1/inventory/product/{id}'

/** Charts, totals and tables show the same requests as the service counts, for any range, key and route. */
export const usageDetails = journey('usage_details', {
  'requests are counted, with cached ones and errors': async ({ page, fixture }) => {
    await sendRequests(fixture)
    await page.goto(`${fixture.origin}/console/usage?range=1h`)
    for (const title of ['Requests and errors', 'Latency percentiles', 'Error rate', 'Cache share']) {
      await page.getByRole('figure', { name: title }).getByRole('img').waitFor()
    }
    await page.getByRole('region', { name: 'By key' }).getByRole('button').first().waitFor()
  },
  'a route limits totals and charts to it': async ({ page, fixture }) => {
    await page.getByRole('button', { name: record, exact: true }).click()
    await untilParameter(page, 'route', record)
    const { requests, errors } = await countedBy(fixture, record)
    expectEqual(errors > 0, true)
    expectEqual(await totalOf(page, 'Requests'), requests)
    expectEqual(await totalOf(page, 'Errors'), errors)
    await page.getByRole('button', { name: 'Show every route' }).click()
    await untilParameter(page, 'route', null)
  },
  'the cached share comes from the request log': async ({ page }) => {
    await page.getByRole('button', { name: list, exact: true }).click()
    await page
      .getByText(/of [\d,]+ reads in the request log/)
      .first()
      .waitFor()
    await page
      .getByRole('definition')
      .filter({ hasText: /\d % of [\d,]+ reads/ })
      .waitFor()
  },
  'dragging zooms, and the range is in the address': async ({ page }) => {
    await drag(page)
    await page.waitForURL((url) => url.searchParams.has('from') && url.searchParams.has('to'))
    const [from, to] = [parameterOf(page, 'from'), parameterOf(page, 'to')]
    expectEqual(Date.parse(from ?? '') < Date.parse(to ?? ''), true)
    await page.reload()
    await page.getByRole('button', { name: 'Reset zoom' }).waitFor()
    expectEqual([parameterOf(page, 'from'), parameterOf(page, 'to')], [from, to])
  },
  'a double click shows the full range again': async ({ page }) => {
    await page.getByRole('figure', { name: 'Requests and errors' }).getByRole('img').dblclick()
    await untilParameter(page, 'from', null)
    await page.goBack()
    await page.waitForURL((url) => url.searchParams.has('from'))
    await page.goForward()
    await untilParameter(page, 'from', null)
  },
  'the keyboard zooms, moves and resets': async ({ page }) => {
    await page.getByRole('heading', { name: 'Usage' }).click()
    await page.keyboard.press('+')
    await page.waitForURL((url) => url.searchParams.has('from'))
    const before = parameterOf(page, 'from')
    await page.keyboard.press('ArrowRight')
    await page.waitForURL((url) => url.searchParams.get('from') !== before)
    await page.keyboard.press('0')
    await untilParameter(page, 'from', null)
  },
  days: async ({ page }) => {
    await page.getByText('By day', { exact: true }).click()
    await untilParameter(page, 'per', 'day')
    await page.getByText('per day, in UTC').waitFor()
    await page.getByText('90 days').click()
    await untilParameter(page, 'range', '90d')
  },
  'the same requests in the log, and why one was rejected': async ({ page }) => {
    await page.getByRole('button', { name: 'Requests of this range in the log' }).click()
    await page.getByRole('grid', { name: 'Requests' }).waitFor()
    expectEqual(parameterOf(page, 'filter')?.includes('method=GET&path="/api/v1/inventory/product"'), true)
    await page
      .getByRole('row', { name: /request_invalid/ })
      .first()
      .click()
    const why = page.getByRole('region', { name: 'Why' })
    await why.getByRole('heading', { name: 'Rejected with 400 request_invalid' }).waitFor()
    await why.getByRole('button', { name: 'Open this list in the console' }).click()
    await page.getByRole('heading', { name: 'Products' }).waitFor()
    expectEqual(parameterOf(page, 'filter'), 'usage_details=1')
  },
})

/** Two equal lists, of which the second is cached; one invalid list; records that exist and one that does not. */
async function sendRequests(fixture: ConsoleFixture): Promise<void> {
  const before = await countedBy(fixture, record)
  await fixture.get('/api/v1/inventory/product?limit=7')
  await fixture.get('/api/v1/inventory/product?limit=7')
  await fixture.get('/api/v1/inventory/product?limit=7')
  await fixture.get('/api/v1/inventory/product?filter=usage_details%3D1')
  await fixture.get('/api/v1/inventory/product/999999999')
  for (const id of [1, 2, 3, 4]) await fixture.get(`/api/v1/inventory/product/${id}`)
  await waitUntil(
    async () => (await countedBy(fixture, record)).requests === before.requests + 5,
    120_000,
    'the requests were not counted',
  )
}

/** As the service counts them, in the last hour. */
async function countedBy(
  fixture: ConsoleFixture,
  route: string,
): Promise<{ requests: number; errors: number }> {
  const since = new Date(Date.now() - 3_600_000).toISOString()
  const filter = encodeURIComponent(`route="${route}"&at>=${since}`)
  const { body } = await fixture.get(`/manage/v1/usage?per=minute&limit=1000&filter=${filter}`)
  const { data }: { data: readonly { requests: number; errors: number }[] } = JSON.parse(body)
  return {
    requests: data.reduce((sum, row) => sum + row.requests, 0),
    errors: data.reduce((sum, row) => sum + row.errors, 0),
  }
}

/** The figure of one total, without its note. */
async function totalOf(page: Page, term: string): Promise<number> {
  const text = await page
    .getByRole('term')
    .filter({ hasText: term })
    .locator('xpath=following-sibling::dd')
    .textContent()
  return Number(/^[\d,]+/.exec(text ?? '')?.[0].replaceAll(',', ''))
}

async function drag(page: Page): Promise<void> {
  const chart = page.getByRole('figure', { name: 'Requests and errors' }).getByRole('img')
  await chart.scrollIntoViewIfNeeded()
  const box = await chart.boundingBox()
  if (box === null) throw new Error('the chart is not visible')
  const y = box.y + box.height / 2
  await page.mouse.move(box.x + box.width * 0.5, y)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.7, y, { steps: 4 })
  await page.mouse.move(box.x + box.width * 0.97, y, { steps: 4 })
  await page.mouse.up()
}
