import { waitUntil } from '../wait-until.ts'
import { expectEqual, grouped, journey, rows, untilParameter } from './journey.ts'

/** What a person does with the filter: text, suggestions, chips, errors and saved views. */
export const filter = journey('filter', {
  '/ focuses the filter, completion offers fields and operators': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/products`)
    await rows(page).nth(1).waitFor()
    await page.getByRole('textbox', { name: 'Filter' }).and(page.locator('[contenteditable]')).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('list_p')
    await page.getByRole('option', { name: /list_price/ }).waitFor()
    await page.getByRole('option', { name: /list_price/ }).click()
    await page.getByRole('option', { name: /at least/ }).waitFor()
  },
  'a suggestion is taken directly after a letter': async ({ page }) => {
    await page.keyboard.press('Control+a')
    await page.keyboard.type('list_')
    const option = page.getByRole('option', { name: /list_price/ })
    await option.waitFor()
    const box = await option.boundingBox()
    if (box === null) throw new Error('the suggestion is not visible')
    await page.keyboard.press('p')
    await page.mouse.click(box.x + 20, box.y + 5)
    await page.getByRole('option', { name: /at least/ }).waitFor()
  },
  'Enter applies the text, and the chips show it': async ({ page }) => {
    await page.keyboard.type('<100&active=true')
    await page.keyboard.press('Enter')
    await untilParameter(page, 'filter', 'list_price<100&active=true')
    await page.getByRole('button', { name: 'Edit list_price less than 100' }).waitFor()
    await page.getByRole('button', { name: 'Edit active is true' }).waitFor()
  },
  'a chip changes the text': async ({ page }) => {
    await page.getByRole('button', { name: 'Edit list_price less than 100' }).click()
    const editor = page.getByRole('dialog', { name: 'Condition' })
    await editor.getByLabel('Operator').selectOption({ label: 'at most' })
    await editor.getByLabel('Value').fill('50')
    await editor.getByRole('button', { name: 'Apply' }).click()
    await untilParameter(page, 'filter', 'list_price<=50&active=true')
  },
  'Esc closes the editor of a chip and not the side panel': async ({ page }) => {
    await page.getByRole('button', { name: 'Request' }).click()
    await page.getByRole('complementary', { name: 'Request' }).waitFor()
    await page.getByRole('button', { name: 'Edit active is true' }).click()
    const editor = page.getByRole('dialog', { name: 'Condition' })
    await editor.getByRole('button', { name: 'Apply' }).focus()
    await page.keyboard.press('Escape')
    await editor.waitFor({ state: 'detached' })
    await untilParameter(page, 'panel', 'request')
    await page
      .locator('button:focus')
      .and(page.getByRole('button', { name: 'Edit active is true' }))
      .waitFor()
    await page.keyboard.press('Escape')
    await untilParameter(page, 'panel', null)
  },
  'suggestions do not cover the chips': async ({ page }) => {
    await page.getByRole('textbox', { name: 'Filter' }).click()
    await page.keyboard.press('End')
    await page.keyboard.type('&')
    await page.getByRole('option', { name: /list_price/ }).waitFor()
    // They are placed after they have opened.
    const areBelow = async () => {
      const suggestions = await page.getByRole('listbox').boundingBox()
      const chips = await page.getByRole('region', { name: 'Conditions' }).boundingBox()
      return suggestions !== null && chips !== null && suggestions.y >= chips.y + chips.height
    }
    await waitUntil(areBelow, 60_000, 'the suggestions were not below the chips')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.getByRole('listbox').waitFor({ state: 'detached' })
  },
  'suggestions do not open after Enter': async ({ page }) => {
    await page.getByRole('textbox', { name: 'Filter' }).click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('(list_price<=50&active=true)')
    await page.keyboard.press('Enter')
    await untilParameter(page, 'filter', '(list_price<=50&active=true)')
    // Suggestions for the last input would open after 100 ms.
    await page.waitForTimeout(500)
    expectEqual(await page.getByRole('listbox').count(), 0)
    await page.getByRole('textbox', { name: 'Filter' }).fill('list_price<=50&active=true')
    await page.keyboard.press('Enter')
    await untilParameter(page, 'filter', 'list_price<=50&active=true')
  },
  'a condition is added, with the operators of its type': async ({ page }) => {
    await page.getByRole('button', { name: 'Add condition' }).click()
    const editor = page.getByRole('dialog', { name: 'New condition' })
    await editor.getByLabel('Field').selectOption('name')
    expectEqual((await editor.getByLabel('Operator').locator('option').allTextContents()).slice(0, 2), [
      'contains',
      'does not contain',
    ])
    await editor.getByLabel('Value').fill('bolt')
    await editor.getByLabel('Value').press('Enter')
    await untilParameter(page, 'filter', 'list_price<=50&active=true&name*bolt')
  },
  'a boolean and a date have pickers': async ({ page }) => {
    await page.getByRole('button', { name: 'Edit active is true' }).click()
    await page.getByRole('dialog', { name: 'Condition' }).getByText('false', { exact: true }).click()
    await page.getByRole('dialog', { name: 'Condition' }).getByRole('button', { name: 'Apply' }).click()
    await untilParameter(page, 'filter', 'list_price<=50&active=false&name*bolt')
    await page.getByRole('button', { name: 'Add condition' }).click()
    await page.getByRole('dialog', { name: 'New condition' }).getByLabel('Field').selectOption('create_date')
    await page.getByRole('button', { name: /^15 / }).first().click()
    await page.getByRole('dialog', { name: 'New condition' }).getByRole('button', { name: 'Apply' }).click()
    await page.waitForURL((url) => /create_date=\d{4}-\d\d-15$/.test(url.searchParams.get('filter') ?? ''))
  },
  'a chip is removed, and "and" becomes "or"': async ({ page, fixture }) => {
    await page.getByRole('button', { name: /^Remove create_date/ }).click()
    await page.getByRole('button', { name: 'Remove active is false' }).click()
    await untilParameter(page, 'filter', 'list_price<=50&name*bolt')
    await page.getByRole('button', { name: 'and', exact: true }).click()
    await untilParameter(page, 'filter', 'list_price<=50|name*bolt')
    const { body } = await fixture.get(
      '/api/v1/inventory/product?limit=1&filter=list_price%3C%3D50%7Cname*bolt',
    )
    const { meta }: { meta: { total: number } } = JSON.parse(body)
    await page.getByText(`of ${grouped(meta.total)}`).waitFor()
  },
  'words are searched for': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/products`)
    await page.getByRole('textbox', { name: 'Filter' }).and(page.locator('[contenteditable]')).click()
    await page.keyboard.type('hex bolt')
    await page.getByText('Enter finds every product with “hex bolt” in a text.').waitFor()
    await page.keyboard.press('Enter')
    await untilParameter(page, 'search', 'hex bolt')
    const { body } = await fixture.get('/api/v1/inventory/product?limit=1&search=hex+bolt')
    const { meta }: { meta: { total: number } } = JSON.parse(body)
    await page.getByText(`of ${grouped(meta.total)}`).waitFor()
    await page.getByRole('button', { name: 'Remove the search' }).click()
    await page.getByText(`of ${grouped(fixture.products)}`).waitFor()
  },
  'an error is explained while typing, with a correction': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/products`)
    await page.getByRole('textbox', { name: 'Filter' }).and(page.locator('[contenteditable]')).click()
    await page.keyboard.type('categ_id[3,7&active=true')
    await page.getByText('The list that opens at offset 8 is not closed').waitFor()
    await page.getByRole('button', { name: 'Use categ_id[3,7]&active=true' }).click()
    await untilParameter(page, 'filter', 'categ_id[3,7]&active=true')
  },
  'an error of the service has its correction, too': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/products?filter=list_prise%3E10`)
    await page.getByRole('button', { name: 'Use list_price>10' }).click()
    await untilParameter(page, 'filter', 'list_price>10')
  },
  'a view is saved and opened': async ({ page }) => {
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByLabel('Save this view as').fill('Over ten')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Remove the filter' }).click()
    await untilParameter(page, 'filter', null)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Over ten' }).click()
    await untilParameter(page, 'filter', 'list_price>10')
  },
})
