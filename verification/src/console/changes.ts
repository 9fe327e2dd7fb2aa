import { Client, headersFor } from '../client.ts'
import type { ConsoleFixture } from './fixture.ts'
import { expectEqual, journey, parameterOf, rows } from './journey.ts'

/** An account of its own, whose changes are only those of this journey. */
async function openAccount({ service, server }: ConsoleFixture) {
  const account = `changes-${Date.now()}`
  const key = await service.account(account)
  const client = new Client()
  return {
    key,
    origin: `http://${account}.localhost:${server.port}`,
    send: async (method: string, path: string, body?: string) => {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
      const { status, text } = await client.sendUntilAccepted({
        port: server.port,
        method,
        path: `/api/v1/inventory/product${path}`,
        headers: [...headersFor(account, key), ...(body === undefined ? [] : ['Content-Type', type])],
        ...(body === undefined ? {} : { body }),
      })
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    },
  }
}

let opened: Awaited<ReturnType<typeof openAccount>> | undefined

function openedAccount() {
  if (opened === undefined) throw new Error('the first step opens the account')
  return opened
}

/** A person sees that the list in front of them is old, and what has changed since a time. */
export const changes = journey(
  'changes',
  {
    'an open list says how many of its records have changed': async ({ page, fixture }) => {
      opened = await openAccount(fixture)
      for (const name of ['Anchor', 'Bolt', 'Crate', 'Dowel'])
        await opened.send('POST', '', JSON.stringify({ name }))
      await page.clock.install()
      await page.goto(`${opened.origin}/console/products`)
      await page.getByLabel('API key').fill(opened.key)
      const feed = page.waitForResponse((response) => response.url().includes('/changes?since=now'))
      await page.getByLabel('API key').press('Enter')
      await feed
      await rows(page).nth(4).waitFor()
      await opened.send('PATCH', '/2', '{"name":"Bolt M8"}')
      await opened.send('DELETE', '/3')
      await page.clock.fastForward(31_000)
      await page.getByText('2 changes').waitFor()
    },
    'Refresh shows them': async ({ page }) => {
      await page.getByRole('status').getByRole('button', { name: 'Refresh' }).click()
      await rows(page).filter({ hasText: 'Bolt M8' }).waitFor()
      await page.getByText('2 changes').waitFor({ state: 'detached' })
      expectEqual(await rows(page).count(), 4)
    },
    'the page of changes has records and deletions, the last first': async ({ page }) => {
      await page.getByRole('link', { name: 'Changes', exact: true }).click()
      await page.getByRole('heading', { name: '3 products created or changed' }).waitFor()
      const [, first] = await page.getByRole('row').allTextContents()
      expectEqual(first?.includes('Bolt M8'), true)
      const deleted = page.getByRole('region', { name: 'Deleted' })
      await deleted.getByRole('heading', { name: '1 product deleted' }).waitFor()
      await deleted.getByText('3', { exact: true }).waitFor()
    },
    'the time is in the address, and a change leads to its record and its requests': async ({ page }) => {
      await page.getByText('A time').click()
      await page.getByLabel('Since the time').fill('2999-01-01T00:00')
      await page.getByRole('heading', { name: '0 products created or changed' }).waitFor()
      expectEqual(parameterOf(page, 'since'), '2999-01-01T00:00')
      await page.getByText('Yesterday').click()
      await page.getByRole('row').filter({ hasText: 'Bolt' }).getByRole('link', { name: 'Requests' }).click()
      await page.getByRole('heading', { name: 'Requests' }).waitFor()
      await page.clock.fastForward(5_000)
      await page.getByRole('button', { name: 'Refresh' }).click()
      await rows(page).filter({ hasText: 'PATCH' }).first().waitFor()
      expectEqual(openedAccount().origin, new URL(page.url()).origin)
    },
  },
  { signedIn: false },
)
