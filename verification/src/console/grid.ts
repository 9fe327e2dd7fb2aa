import type { Page } from 'playwright-core'
import { expectEqual, journey, parameterOf, rows, untilParameter } from './journey.ts'

const header = (page: Page, name: string) => page.getByRole('columnheader', { name, exact: true })
const firstCells = async (page: Page) =>
  (await rows(page).nth(1).getByRole('gridcell').allTextContents()).slice(0, 2)

/** What a person expects of a list: headers, order, links, text, a connection that fails. */
export const grid = journey(
  'grid',
  {
    'headers and the first column stay, and the next page starts at its top': async ({ page, fixture }) => {
      await page.goto(`${fixture.origin}/console/products`)
      await rows(page).nth(1).waitFor()
      await page.getByRole('grid').evaluate((element) => {
        element.scrollTop = 100_000
        element.scrollLeft = 300
      })
      await rows(page).filter({ hasText: /^50/ }).waitFor()
      const box = await header(page, 'ID').boundingBox()
      const around = await page.getByRole('grid').boundingBox()
      expectEqual(box !== null && around !== null && Math.abs(box.y - around.y) < 3, true)
      expectEqual(box !== null && around !== null && Math.abs(box.x - around.x) < 3, true)
      await page.getByRole('button', { name: 'Next page' }).click()
      await rows(page).filter({ hasText: /^51/ }).waitFor()
      expectEqual(await page.getByRole('grid').evaluate((element) => element.scrollTop), 0)
    },
    'a click on a header orders the list, and the address has the order': async ({ page }) => {
      await header(page, 'Price').getByRole('button').click()
      await untilParameter(page, 'sort', 'list_price')
      expectEqual(parameterOf(page, 'page'), null)
      expectEqual(await header(page, 'Price').getAttribute('aria-sort'), 'ascending')
      await header(page, 'Price').getByRole('button').click()
      await untilParameter(page, 'sort', '-list_price')
      await page.locator('[role=grid][aria-busy=false]').waitFor()
      const [id] = await firstCells(page)
      await page.reload()
      await rows(page).nth(1).waitFor()
      expectEqual((await firstCells(page))[0], id)
      expectEqual(await header(page, 'Price').getAttribute('aria-sort'), 'descending')
      await header(page, 'Price').getByRole('button').click()
      await untilParameter(page, 'sort', null)
    },
    'a column is resized, and keeps its width': async ({ page }) => {
      const box = await header(page, 'Code').boundingBox()
      if (box === null) throw new Error('the header is not visible')
      await page.mouse.move(box.x + box.width - 3, box.y + 10)
      await page.mouse.down()
      await page.mouse.move(box.x + 300, box.y + 10, { steps: 4 })
      await page.mouse.up()
      await page.reload()
      await rows(page).nth(1).waitFor()
      const width = (await header(page, 'Code').boundingBox())?.width ?? 0
      expectEqual(Math.abs(width - 303) < 6, true)
    },
    'a row is a link, and its text can be selected': async ({ page }) => {
      const name = rows(page).nth(2).getByRole('link')
      expectEqual(await name.getAttribute('href'), '/console/products?record=2')
      const box = await name.boundingBox()
      if (box === null) throw new Error('the link is not visible')
      await page.mouse.move(box.x + 2, box.y + 8)
      await page.mouse.down()
      await page.mouse.move(box.x + 60, box.y + 8, { steps: 4 })
      await page.mouse.up()
      expectEqual(await page.evaluate('getSelection().toString().length > 2'), true)
      expectEqual(parameterOf(page, 'record'), null)
      await name.click()
      await untilParameter(page, 'record', '2')
    },
    'no row is selected if the open record is not on the page': async ({ page, fixture }) => {
      await page.goto(`${fixture.origin}/console/products?record=${fixture.products}`)
      await page.getByRole('complementary').getByText('Changed').waitFor()
      expectEqual(await page.getByRole('row', { selected: true }).count(), 0)
    },
    'times are those of the browser, and UTC in the tooltip': async ({ page, fixture }) => {
      const utc = await page.getByRole('complementary').locator('time').first().getAttribute('datetime')
      await fixture.withPage({ key: fixture.key, timezone: 'Asia/Tokyo' }, async (other) => {
        await other.goto(page.url())
        const time = other.getByRole('complementary').locator('time').first()
        await time.waitFor()
        const local = new Date(Date.parse(utc ?? '') + 9 * 3_600_000).toISOString()
        expectEqual(await time.textContent(), local.slice(0, 19).replace('T', ' '))
        expectEqual(await time.getAttribute('title'), `${utc?.slice(0, 19).replace('T', ' ')} UTC`)
      })
    },
    'email and phone are links': async ({ page, fixture }) => {
      const path = '/api/v1/resources/partner/3'
      await fixture.patch(path, '{"email":"orders@nordwind.example","phone":"+49 40 5550-123"}')
      await page.goto(`${fixture.origin}/console/partners?record=3`)
      const panel = page.getByRole('complementary')
      const href = (name: string) => panel.getByRole('link', { name }).getAttribute('href')
      expectEqual(await href('orders@nordwind.example'), 'mailto:orders@nordwind.example')
      expectEqual(await href('+49 40 5550-123'), 'tel:+49405550123')
    },
    'offline, the rows stay and the page says so; online, it recovers': async ({ page }) => {
      await rows(page).nth(1).waitFor()
      await page.context().setOffline(true)
      await page.getByRole('button', { name: 'Refresh' }).click()
      await page.getByRole('alert').getByText('You are offline.').first().waitFor()
      await rows(page).nth(1).waitFor()
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.getByRole('alert').getByRole('button', { name: 'Try again' }).first().waitFor()
      await page.context().setOffline(false)
      await page.getByText('51–100').waitFor()
      await page.getByRole('alert').waitFor({ state: 'detached' })
    },
  },
  { width: 1280 },
)
