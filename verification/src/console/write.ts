import type { Page } from 'playwright-core'
import type { ConsoleFixture } from './fixture.ts'
import { expectEqual, journey, parameterOf, untilParameter } from './journey.ts'

const partnerPath = '/api/v1/resources/partner'
const panel = (page: Page) => page.getByRole('complementary')
const name = `Nordwind ${Date.now()}`
let id = ''

/** What a business user does with one record: find it, correct it, meet a colleague's change, create, delete. */
export const write = journey('write', {
  'a record of any resource is created, with the messages of the service': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/companies`)
    await page.getByRole('button', { name: 'Create company' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill(`${name} Holding`)
    await dialog.getByRole('button', { name: 'Create company' }).click()
    await dialog.getByLabel('Branch user').and(page.locator('[aria-invalid=true]')).waitFor()
    await dialog.getByLabel('Branch user').fill('00417')
    await dialog.getByRole('button', { name: 'Create company' }).click()
    await page.getByRole('heading', { name: `${name} Holding` }).waitFor()
    await page.goto(`${fixture.origin}/console/partners?dialog=create`)
    await page.getByRole('dialog').getByLabel('Name').fill(name)
    await page.getByRole('dialog').getByLabel('Phone').fill('+49 40 5550')
    await page.getByRole('dialog').getByLabel('Customer').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Create partner' }).dblclick()
    await page.getByRole('heading', { name }).waitFor()
    id = parameterOf(page, 'record') ?? ''
    const { body } = await fixture.get(`${partnerPath}?search=${encodeURIComponent(name)}`)
    const list: { data: { phone: string; is_customer: boolean }[] } = JSON.parse(body)
    expectEqual(
      list.data.map(({ phone, is_customer }) => [phone, is_customer]),
      [['+49 40 5550', true]],
    )
  },
  'a phone number is corrected with six keystrokes beyond typing': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/products`)
    await page.getByRole('grid').getByRole('row').nth(1).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search commands' }).fill(name)
    await page.getByRole('option', { name: new RegExp(`^${name}\\s*partner`) }).waitFor()
    await page.keyboard.press('Enter')
    await panel(page).getByText('+49 40 5550').waitFor()
    await page.keyboard.press('e')
    await panel(page).getByLabel('Name').and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type('+49 40 5550 123')
    await page.keyboard.press('Enter')
    await panel(page).getByRole('link', { name: '+49 40 5550 123' }).waitFor()
    await untilParameter(page, 'dialog', null)
    expectEqual(await phoneOf(fixture), '+49 40 5550 123')
  },
  'a change that a colleague made meanwhile is shown next to yours': async ({ page, fixture }) => {
    await panel(page).getByRole('button', { name: 'Edit' }).click()
    await panel(page).getByLabel('Phone').fill('+49 40 1')
    await panel(page).getByLabel('Email').fill('mine@nordwind.example')
    await fixture.patch(`${partnerPath}/${id}`, '{"phone":"+49 40 2","is_vendor":true}')
    await panel(page).getByRole('button', { name: 'Save' }).click()
    const conflict = panel(page).getByRole('alert', { name: 'Changed meanwhile' })
    await conflict.getByText('Their new values of Vendor are kept.').waitFor()
    expectEqual(await phoneOf(fixture), '+49 40 2')
    await conflict.getByRole('radio', { name: 'Theirs: Phone +49 40 2' }).check()
    await panel(page).getByRole('button', { name: 'Save' }).click()
    await panel(page).getByRole('link', { name: 'mine@nordwind.example' }).waitFor()
    const { body } = await fixture.get(`${partnerPath}/${id}?fields=phone,email,is_vendor`)
    expectEqual(JSON.parse(body), {
      data: { phone: '+49 40 2', email: 'mine@nordwind.example', is_vendor: true },
    })
  },
  'a change is undone': async ({ page, fixture }) => {
    await panel(page).getByRole('button', { name: 'Edit' }).click()
    await panel(page).getByLabel('Phone').fill('wrong')
    await page.keyboard.press('Enter')
    await panel(page).getByText('Saved.').waitFor()
    expectEqual(await phoneOf(fixture), 'wrong')
    await panel(page).getByRole('button', { name: 'Undo' }).click()
    await panel(page).getByText('The change was undone.').waitFor()
    expectEqual(await phoneOf(fixture), '+49 40 2')
  },
  'changes are not lost by a wrong click': async ({ page }) => {
    await panel(page).getByRole('button', { name: 'Edit' }).click()
    await panel(page).getByLabel('Phone').fill('1')
    page.once('dialog', (dialog) => void dialog.dismiss())
    await panel(page).getByRole('button', { name: 'Close' }).click()
    expectEqual(await panel(page).getByLabel('Phone').inputValue(), '1')
    page.once('dialog', (dialog) => void dialog.accept())
    await panel(page).getByRole('button', { name: 'Cancel' }).click()
    await panel(page).getByRole('button', { name: 'Edit' }).waitFor()
  },
  'a record is deleted by typing its name': async ({ page, fixture }) => {
    await panel(page).getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name of the partner').fill('Nordwind')
    expectEqual(await dialog.getByRole('button', { name: 'Delete partner' }).isDisabled(), true)
    await dialog.getByLabel('Name of the partner').fill(name)
    await dialog.getByRole('button', { name: 'Delete partner' }).click()
    await untilParameter(page, 'record', null)
    expectEqual((await fixture.get(`${partnerPath}/${id}`)).status, 404)
  },
  'a key that may only read is offered no change': async ({ fixture }) => {
    await fixture.withPage({ key: fixture.readerKey }, async (page) => {
      await page.goto(`${fixture.origin}/console/products?record=2`)
      await panel(page).getByRole('button', { name: 'Copy as JSON' }).waitFor()
      await page.getByRole('link', { name: 'Partners' }).waitFor({ state: 'detached' })
      expectEqual(
        await panel(page)
          .getByRole('button', { name: /Edit|Delete/ })
          .count(),
        0,
      )
      expectEqual(await page.getByRole('button', { name: /^Create / }).count(), 0)
    })
  },
})

async function phoneOf(fixture: ConsoleFixture): Promise<string> {
  const { data }: { data: { phone: string } } = JSON.parse((await fixture.get(`${partnerPath}/${id}`)).body)
  return data.phone
}
