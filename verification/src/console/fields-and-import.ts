import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import type { ConsoleFixture } from './fixture.ts'
import { expectEqual, journey, rows, untilParameter } from './journey.ts'

/** An account of its own: an import changes what other journeys expect. */
let origin = ''

async function openAccount({ service, server }: ConsoleFixture): Promise<string> {
  const account = `import-${Date.now()}`
  origin = `http://${account}.localhost:${server.port}`
  return await service.account(account)
}

const dialogOf = (page: Page) => page.getByRole('dialog')
const resultOf = async (page: Page) =>
  await page.getByRole('region', { name: 'Result' }).getByRole('definition').allTextContents()

async function drop(page: Page, name: string, text: string): Promise<void> {
  await page.getByLabel('CSV file').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
}

const articles = 2_500
/** Every 125th price is wrong. */
const articleLines = Array.from({ length: articles }, (_, index) => {
  const price = index % 125 === 7 ? 'on request' : `${index},5`
  return `A-${index};"Article ""${index}"",\nin two lines";${price}`
})

/** An administrator declares a field that is a key, and a person imports a file by it. */
export const fieldsAndImport = journey(
  'fields_and_import',
  {
    'a field is declared as a key': async ({ page, fixture }) => {
      const key = await openAccount(fixture)
      await page.goto(`${origin}/console/fields`)
      await page.getByLabel('API key').fill(key)
      await page.getByLabel('API key').press('Enter')
      await page.getByRole('button', { name: 'Declare field' }).first().click()
      await dialogOf(page).getByLabel('Label').fill('Article number')
      await dialogOf(page).getByLabel('Key', { exact: true }).check()
      await dialogOf(page).getByRole('button', { name: 'Declare field' }).click()
      await untilParameter(page, 'record', 'product.x_article_number')
      await rows(page).filter({ hasText: 'x_article_number' }).waitFor()
      await page.getByText('0 of 0 products').waitFor()
    },
    'a file is mapped by the labels of its columns, and previewed': async ({ page }) => {
      await page.goto(`${origin}/console/import?resource=product`)
      await drop(page, 'articles.csv', `Article number;Name;Price\n${articleLines.join('\n')}\n`)
      await page
        .getByText(`${articles.toLocaleString('en')} rows`)
        .first()
        .waitFor()
      expectEqual(
        await page.getByLabel('Field for the column Article number').inputValue(),
        'x_article_number',
      )
      await page.getByLabel('Numbers as').check()
      await page.getByRole('button', { name: 'Preview' }).click()
      const counts = page.getByRole('region', { name: 'Preview' }).getByRole('definition')
      await counts.first().waitFor()
      expectEqual(await counts.allTextContents(), ['992', '0', '0', '8'])
    },
    'the valid rows are imported, the others saved as a file': async ({ page }) => {
      await page.getByRole('button', { name: 'Import 2,500 rows' }).click()
      await page.getByText('2,500 rows imported').waitFor({ timeout: 60_000 })
      expectEqual(await resultOf(page), ['2,480', '0', '0', '20'])
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Save rejected rows' }).click()
      const rejected = readFileSync(await (await download).path(), 'utf8')
      expectEqual(rejected.startsWith('\uFEFF"Article number","Name","Price","rejected because"\r\n'), true)
      expectEqual(rejected.split('on request').length - 1, 40)
      await page.getByRole('button', { name: 'Another file' }).click()
      await drop(page, 'rejected.csv', rejected.replaceAll('"on request"', '"1,5"'))
      await page.getByLabel('Numbers as').check()
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.getByRole('button', { name: 'Import 20 rows' }).click()
      await page.getByText('20 rows imported').waitFor()
      expectEqual(await resultOf(page), ['20', '0', '0', '0'])
    },
    'an export for spreadsheets changes nothing when it is imported again': async ({ page }) => {
      await page.goto(`${origin}/console/products?fields=id,name,list_price,x_article_number&filter=id<=600`)
      await rows(page).nth(1).waitFor()
      await page.getByRole('button', { name: 'Export', exact: true }).click()
      const download = page.waitForEvent('download')
      await page.getByRole('menuitem', { name: 'All as CSV' }).click()
      const exported = readFileSync(await (await download).path(), 'utf8')
      await page.getByRole('button', { name: 'Export', exact: true }).click()
      const small = page.waitForEvent('download')
      await page.getByRole('menuitem', { name: 'Page as NDJSON' }).click()
      expectEqual(readFileSync(await (await small).path(), 'utf8').split('\n').length, 51)
      await page.getByRole('link', { name: 'Import', exact: true }).click()
      await drop(page, 'products.csv', exported)
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.getByText('There is nothing to write.').waitFor()
    },
    'a field is deleted after the number of its values was shown': async ({ page }) => {
      await page.goto(`${origin}/console/fields?record=product.x_article_number`)
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      await dialogOf(page).getByText('2,500 of 2,500 products').waitFor()
      await dialogOf(page).getByLabel('Name of the field').fill('x_article_number')
      await dialogOf(page).getByRole('button', { name: 'Delete field and values' }).click()
      await page.getByRole('heading', { name: 'No fields yet' }).waitFor()
    },
  },
  { signedIn: false },
)
