import type { Page } from 'playwright-core'
import { expectEqual, grouped, journey, rows, untilParameter } from './journey.ts'

const announced = (page: Page) =>
  page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('status')
const focused = (page: Page) => page.evaluate<string>('document.activeElement?.textContent ?? ""')

/** What people use who do not see the page, see it enlarged or on paper, or read it in another language. */
export const assistive = journey('assistive', {
  'each page has its title': async ({ page, fixture }) => {
    for (const [path, title] of [
      ['/products', 'Products · acme'],
      ['/partners?record=2', 'Partners · acme'],
      ['/keys', 'Keys · acme'],
      ['/changes', 'Changes · acme'],
      ['/import', 'Import · acme'],
      ['/usage', 'Usage · acme'],
    ] as const) {
      await page.goto(`${fixture.origin}/console${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForFunction(`document.title.endsWith(${JSON.stringify(title)})`)
    }
  },
  'an opened record has the focus, and the list when it closes': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/products?fields=id,name`)
    await rows(page).nth(2).click()
    const heading = page.getByRole('complementary').getByRole('heading', { level: 2 })
    await heading.waitFor()
    expectEqual(await focused(page), await heading.textContent())
    await page.waitForFunction(
      `document.title.startsWith(${JSON.stringify(`${await heading.textContent()} · Products`)})`,
    )
    await page.keyboard.press('j')
    await untilParameter(page, 'record', '3')
    await page.keyboard.press('Escape')
    await heading.waitFor({ state: 'detached' })
    expectEqual(await page.evaluate<string>('document.activeElement.getAttribute("role")'), 'grid')
  },
  'a form that closes leaves the focus in the panel': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/partners`)
    await rows(page).nth(1).click()
    await page.getByRole('complementary').getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' })
    expectEqual(await focused(page), await page.getByRole('complementary').getByRole('heading').textContent())
  },
  'paging and filtering are announced': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/products`)
    await announced(page)
      .getByText(`1–50 of ${grouped(fixture.products)}`)
      .waitFor()
    await page.keyboard.press('n')
    await announced(page).getByText('51–100').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('id<=20')
    await page.keyboard.press('Enter')
    await announced(page).getByText('1–20 of 20').waitFor()
    await page.getByRole('button', { name: 'Remove the filter' }).first().click()
    await announced(page).getByText(grouped(fixture.products)).waitFor()
  },
  'paper has every row of the page, and no navigation': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/products?limit=250&fields=id,name,list_price`)
    await rows(page).nth(1).waitFor()
    await page.evaluate(
      "addEventListener('beforeprint', () => { document.body.dataset.printed = String(document.querySelectorAll('.grid-row').length) })",
    )
    const pdf = await page.pdf()
    expectEqual(await page.evaluate('document.body.dataset.printed'), '250')
    const sheets = pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0
    expectEqual(sheets >= 6, true)
    await page.emulateMedia({ media: 'print' })
    expectEqual(await page.getByRole('navigation').first().isVisible(), false)
    await page.emulateMedia({ media: null })
  },
  'at 400 %, the list fills the window, and a record can be read and changed': async ({ page, fixture }) => {
    await page.setViewportSize({ width: 320, height: 200 })
    await page.goto(`${fixture.origin}/console/partners`)
    await rows(page).nth(1).waitFor()
    const grid = page.getByRole('grid')
    await grid.scrollIntoViewIfNeeded()
    expectEqual(((await grid.boundingBox())?.height ?? 0) >= 140, true)
    await rows(page).nth(2).click()
    const panel = page.getByRole('complementary')
    await panel.getByRole('button', { name: 'Edit' }).click()
    await panel.getByLabel('Phone').fill('+49 40 400')
    await panel.getByRole('button', { name: 'Save' }).click()
    await panel.getByText('+49 40 400').waitFor()
    await panel.getByRole('button', { name: 'Close' }).click()
    expectEqual(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
    await page.setViewportSize({ width: 1280, height: 800 })
  },
  'German is chosen, and stays': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/products?filter=list_price>10`)
    await page.getByLabel('Language').selectOption('Deutsch')
    await page.getByRole('heading', { name: 'Produkte' }).waitFor()
    expectEqual(await page.evaluate('document.documentElement.lang'), 'de')
    await page.goto(`${fixture.origin}/console/products`)
    await page.getByText(`von ${fixture.products.toLocaleString('de')}`).waitFor()
    await page.waitForFunction("document.title === 'Produkte · acme'")
  },
  'a decimal is typed with a comma': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/products?record=9&dialog=edit`)
    const panel = page.getByRole('complementary', { name: 'Produkt 9' })
    await panel.getByRole('textbox', { name: 'Preis' }).fill('1.234,5')
    await panel.getByRole('button', { name: 'Speichern' }).click()
    await panel.getByText('1.234,50').or(panel.getByText('1.234,5')).first().waitFor()
    const { body } = await fixture.get('/api/v1/inventory/product/9?fields=list_price')
    expectEqual(body.includes('1234.5'), true)
  },
  'English is chosen in the palette': async ({ page }) => {
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Befehle suchen' }).fill('English')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Products' }).waitFor()
    expectEqual(await page.evaluate('document.documentElement.lang'), 'en')
  },
})
