import { journey, rows, untilParameter } from './journey.ts'

/** A file of the console that cannot be loaded, because the network or the service fails for a moment. */
export const loadFailures = journey('load_failures', {
  'without its editor, a filter is typed into a plain text field': async ({ page, fixture }) => {
    const failed = page.waitForEvent('requestfailed')
    await page.route('**/assets/filter-editor-*.js', (route) => route.abort())
    await page.goto(`${fixture.origin}/console/products`)
    await failed
    const field = page.getByRole('textbox', { name: 'Filter' })
    await field.fill('list_price<100')
    await field.press('Enter')
    await untilParameter(page, 'filter', 'list_price<100')
    await rows(page).nth(1).waitFor()
  },
  'a page that lacks a file says so, and the navigation remains': async ({ page }) => {
    await page.route('**/assets/usage-*.js', (route) => route.fulfill({ status: 503 }))
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByRole('heading', { name: 'This page cannot be shown' }).waitFor()
    await page.getByRole('link', { name: 'Products' }).click()
    await rows(page).nth(1).waitFor()
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.getByRole('heading', { name: 'This page cannot be shown' }).waitFor()
  },
  'Reload loads it when the file can be loaded again': async ({ page }) => {
    await page.unroute('**/assets/usage-*.js')
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { name: 'Usage' }).waitFor()
  },
})
