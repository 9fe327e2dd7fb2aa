import type { Page } from 'playwright-core'
import type { ConsoleFixture } from './fixture.ts'
import { expectEqual, journey, untilParameter } from './journey.ts'

const productPath = '/api/v1/inventory/product?limit=1'

/** What an administrator relies on when they create, rotate and revoke keys. */
export const keyLifecycle = journey('key_lifecycle', {
  'a key without account:manage gets an explanation': async ({ fixture }) => {
    await fixture.withPage({ key: fixture.readerKey }, async (page) => {
      for (const path of ['keys', 'audit', 'requests', 'usage']) {
        await page.goto(`${fixture.origin}/console/${path}`)
        await page.getByRole('heading', { name: 'This page is for administrators of the account' }).waitFor()
        await page.getByText('quartermaster key create --account acme').waitFor()
      }
    })
  },
  'an error of the service is shown at its field': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/keys?dialog=create`)
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Read products').uncheck()
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByText('A key needs at least one scope.').waitFor()
    await dialog.getByText('On a date').click()
    await dialog.getByLabel('Date of expiry').fill('2020-01-01')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByText(/expir.* in the future|future/).waitFor()
  },
  'a double click creates one key, and nothing of it remains': async ({ page, fixture }) => {
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('double click')
    await dialog.getByLabel('Read products').check()
    await dialog.getByText('30 days').click()
    await dialog.getByRole('button', { name: 'Create key' }).dblclick()
    const secret = await dialog.getByLabel('New key').inputValue()
    expectEqual(await statusOf(fixture, secret, productPath), 200)
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'detached' })
    await expectForgotten(page, secret)
    expectEqual(await statesOf(fixture, 'double click'), ['active'])
    await page.getByRole('row', { name: /double click/ }).waitFor()
  },
  'a rotated key stays valid for the chosen overlap': async ({ page, fixture }) => {
    await page.getByRole('row', { name: /double click/ }).click()
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await untilParameter(page, 'dialog', 'rotate')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('7 days').check()
    await dialog.getByRole('button', { name: 'Rotate key' }).click()
    const secret = await dialog.getByLabel('New key').inputValue()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('row', { name: /double click.*rotating/ }).waitFor()
    await expectForgotten(page, secret)
    expectEqual(await statusOf(fixture, secret, productPath), 200)
    expectEqual(await statesOf(fixture, 'double click'), ['active', 'rotating'])
  },
  'a key is revoked with the keyboard alone, after its full name': async ({ page, fixture }) => {
    const filter = encodeURIComponent('name="double click"&state=rotating')
    await page.goto(`${fixture.origin}/console/keys?filter=${filter}`)
    await page.getByRole('row', { name: /rotating/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Revoke', exact: true }).press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name of the key').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('double')
    await page.keyboard.press('Enter')
    expectEqual(await dialog.getByRole('button', { name: 'Revoke key' }).isDisabled(), true)
    await page.keyboard.type(' click')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expectEqual(await statesOf(fixture, 'double click'), ['active', 'revoked'])
  },
  'the audit log is next to the key, and filtered in its own page': async ({ page, fixture }) => {
    const filter = encodeURIComponent('name="double click"&state=revoked')
    await page.goto(`${fixture.origin}/console/keys?filter=${filter}`)
    await page.getByRole('row', { name: /revoked/ }).click()
    const changes = page.getByRole('list', { name: 'Changes of this key' })
    await changes.getByText('key.revoke').waitFor()
    expectEqual(await changes.getByRole('listitem').count(), 3)
    await page.getByRole('link', { name: 'Open in the audit log' }).click()
    await page.getByRole('grid', { name: 'Audit' }).waitFor()
    await page.getByRole('row', { name: /key\.revoke/ }).waitFor()
    expectEqual(await page.getByRole('row').count(), 4)
  },
  'revoking the key of the tab warns, and signs out': async ({ fixture }) => {
    const { key, key_id: id } = await createKey(fixture, 'mine')
    await fixture.withPage({ key }, async (page) => {
      await page.goto(`${fixture.origin}/console/keys?record=${id}`)
      await page.getByText('You are signed in with this key.').waitFor({ timeout: 120_000 })
      await page.getByRole('button', { name: 'Revoke', exact: true }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('You are signed in with this key').waitFor()
      await dialog.getByLabel('Name of the key').fill('mine')
      await dialog.getByRole('button', { name: 'Revoke key' }).click()
      await page.getByLabel('API key').waitFor()
    })
    expectEqual(await statusOf(fixture, key, productPath), 401)
  },
})

/** The key is nowhere but in the clipboard: not in the page, its address or history, or in storage. */
async function expectForgotten(page: Page, secret: string): Promise<void> {
  const traces = await page.evaluate<string>(`[
    location.href,
    JSON.stringify(history.state),
    JSON.stringify(sessionStorage),
    JSON.stringify(localStorage),
    document.documentElement.outerHTML,
    ...[...document.querySelectorAll('input')].map(({ value }) => value),
  ].join(' ')`)
  if (traces.includes(secret)) throw new Error('the new key is still in the page after the dialog was closed')
}

async function statusOf({ server }: ConsoleFixture, key: string, path: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  await response.arrayBuffer()
  return response.status
}

async function statesOf(fixture: ConsoleFixture, name: string): Promise<string[]> {
  const filter = encodeURIComponent(`name="${name}"`)
  const { body } = await fixture.get(`/manage/v1/keys?filter=${filter}`)
  const { data }: { data: readonly { state: string }[] } = JSON.parse(body)
  return data.map(({ state }) => state).toSorted()
}

async function createKey(
  { server, key }: ConsoleFixture,
  name: string,
): Promise<{ key: string; key_id: string }> {
  const response = await fetch(`http://127.0.0.1:${server.port}/manage/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, scopes: ['account:manage'] }),
  })
  const { data }: { data: { key: string; key_id: string } } = JSON.parse(await response.text())
  return data
}
