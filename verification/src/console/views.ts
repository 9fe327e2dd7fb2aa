import type { Page } from 'playwright-core'

/** A page or dialog, and what must be visible before it is looked at. In any language, so by roles without names. */
export interface View {
  readonly path: string
  readonly until: (page: Page) => Promise<unknown>
}

const grid = async (page: Page) => await page.getByRole('grid').getByRole('row').nth(1).waitFor()
const dialogField = async (page: Page) =>
  await page.getByRole('dialog').getByRole('textbox').first().waitFor()
const message = (page: Page) => page.getByRole('main').getByRole('status').getByRole('heading')
const listOrNone = async (page: Page) => await message(page).or(page.getByRole('gridcell')).first().waitFor()
const alert = async (page: Page) => await page.getByRole('alert').waitFor()

export const views: Readonly<Record<string, View>> = {
  products: { path: '/products', until: grid },
  'a record': { path: '/products?record=2', until: grid },
  'the request': { path: '/products?panel=request&filter=active=true', until: grid },
  'a wrong filter': { path: '/products?filter=nope=1', until: alert },
  'no match': { path: '/products?filter=id=0', until: async (page) => await message(page).waitFor() },
  'beyond the last page': {
    path: '/products?page=99999',
    until: async (page) => await message(page).waitFor(),
  },
  'a condition': {
    path: '/products?filter=create_date>=2001-01-01',
    until: async (page) => {
      await grid(page)
      await page.locator('.chip-text').click()
      await page.getByRole('dialog').getByRole('combobox').first().waitFor()
    },
  },
  partners: { path: '/partners', until: grid },
  'change a partner': {
    path: '/partners?record=2&dialog=edit',
    until: async (page) => await page.getByRole('complementary').getByRole('textbox').first().waitFor(),
  },
  'delete a partner': {
    path: '/partners?record=2&dialog=delete',
    until: async (page) => {
      const dialog = page.getByRole('dialog')
      const heading = page.getByRole('complementary').getByRole('heading')
      await dialog.getByRole('textbox').fill((await heading.textContent()) ?? '')
      await dialog.locator('[type=submit]:enabled').waitFor()
    },
  },
  'a search': { path: '/partners?search=gmbh&sort=-name', until: grid },
  'create a partner': { path: '/partners?dialog=create', until: dialogField },
  companies: { path: '/companies', until: grid },
  keys: { path: '/keys', until: grid },
  'create a key': { path: '/keys?dialog=create', until: dialogField },
  changes: {
    path: '/changes',
    until: async (page) => await page.getByRole('main').getByRole('region').nth(1).waitFor(),
  },
  webhooks: { path: '/webhooks', until: listOrNone },
  'create a webhook': { path: '/webhooks?dialog=create', until: dialogField },
  deliveries: { path: '/deliveries', until: listOrNone },
  'declare a field': { path: '/fields?dialog=create', until: dialogField },
  import: {
    path: '/import',
    until: async (page) => {
      await page.locator('input[type=file]').setInputFiles({
        name: 'products.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from('id,name,list_price,colour\n1,Anchor,1.5,red\n2,Bolt,cheap,blue\n'),
      })
      await page.locator('.import-actions').getByRole('button').click()
      await page.getByRole('main').getByRole('region').nth(1).waitFor()
    },
  },
  audit: { path: '/audit', until: grid },
  requests: { path: '/requests', until: grid },
  usage: { path: '/usage', until: async (page) => await page.getByRole('table').nth(1).waitFor() },
  palette: {
    path: '/products',
    until: async (page) => {
      await grid(page)
      await page.keyboard.press('Control+k')
      await page.getByRole('listbox').getByRole('option').first().waitFor()
    },
  },
  help: {
    path: '/products',
    until: async (page) => {
      await grid(page)
      await page.keyboard.press('?')
      await page.getByRole('dialog').getByRole('heading', { level: 4 }).first().waitFor()
    },
  },
}
