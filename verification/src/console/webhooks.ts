import type { Page } from 'playwright-core'
import type { ConsoleFixture } from './fixture.ts'
import { expectEqual, journey, rows, untilParameter } from './journey.ts'

const dialogOf = (page: Page) => page.getByRole('dialog')
const statusRow = (page: Page, status: string) => rows(page).filter({ hasText: status })
const secretIn = async (page: Page) => await dialogOf(page).getByLabel('New secret').inputValue()

/** The receiver returns challenges from now on, or not. */
function echo({ receiver }: ConsoleFixture, isWorking: boolean): void {
  receiver.echo = (challenge) => (isWorking ? { status: 200, body: challenge } : { status: 500 })
}

/** What an administrator does to send changes to a program, and to find out why they do not arrive. */
export const webhooks = journey('webhooks', {
  'a wrong URL is explained at its field': async ({ page, fixture }) => {
    await page.goto(`${fixture.origin}/console/webhooks`)
    await page.getByRole('button', { name: 'Create webhook' }).first().click()
    await page.getByLabel('URL of the receiver').fill('http://example.com/hook')
    await dialogOf(page).getByRole('button', { name: 'Create webhook' }).click()
    await page.getByText(/https/).and(page.locator('.mantine-InputWrapper-error')).waitFor()
  },
  'a webhook is created with a secret and the code of a receiver': async ({ page, fixture }) => {
    echo(fixture, false)
    await page.getByLabel('URL of the receiver').fill(fixture.receiver.url)
    await page.getByLabel('Fields').fill('id, name')
    await dialogOf(page).getByRole('button', { name: 'Create webhook' }).dblclick()
    expectEqual((await secretIn(page)).startsWith('whsec_'), true)
    for (const [tab, text] of [
      ['Node', 'timingSafeEqual'],
      ['Python', 'compare_digest'],
      ['PHP', 'hash_equals'],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click()
      await page.getByRole('button', { name: 'Copy code' }).click()
      expectEqual((await page.evaluate<string>('navigator.clipboard.readText()')).includes(text), true)
    }
  },
  'the verification says why it failed, and succeeds after the repair': async ({ page, fixture }) => {
    await page.getByRole('button', { name: 'Verify and activate' }).click()
    await page.getByRole('alert').getByText('The receiver responded with 500').waitFor()
    echo(fixture, true)
    await page.getByRole('button', { name: 'Verify and activate' }).click()
    await page.getByRole('heading', { name: 'Verified' }).waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    await statusRow(page, 'active').waitFor()
    expectEqual(await rows(page).count(), 2)
  },
  'a failed test says why, with its attempts and headers': async ({ page, fixture }) => {
    fixture.receiver.respond = () => ({ status: 401 })
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('the receiver responded with 401').waitFor()
    const deliveries = page.getByRole('list', { name: 'Deliveries of this webhook' })
    await deliveries.getByRole('listitem').filter({ hasText: '401' }).getByRole('link').click()
    await page.getByText('does not accept the signature').waitFor()
    await page.getByText('webhook-id: msg_').waitFor()
    const attempts = page.getByRole('list', { name: 'Attempts of this message' })
    await attempts.getByText('401').waitFor()
    expectEqual(await attempts.getByRole('listitem').count(), 1)
    await page.getByRole('link', { name: 'Open the webhook' }).click()
    fixture.receiver.respond = () => ({ status: 204 })
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('Delivered with 204').waitFor()
  },
  'it is paused, edited, replayed and resumed': async ({ page, fixture }) => {
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await statusRow(page, 'paused').waitFor()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await dialogOf(page).getByLabel('Filter').fill('nope=1')
    await dialogOf(page).getByRole('button', { name: 'Save' }).click()
    await dialogOf(page).getByText('has no field "nope"').first().waitFor()
    await dialogOf(page).getByLabel('Filter').fill('id<=2')
    await dialogOf(page).getByRole('button', { name: 'Save' }).click()
    await dialogOf(page).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Replay', exact: true }).click()
    await untilParameter(page, 'dialog', 'replay')
    await dialogOf(page).getByRole('button', { name: 'Replay', exact: true }).click()
    await dialogOf(page).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Activate', exact: true }).click()
    await statusRow(page, 'active').waitFor()
    const sent = () => fixture.receiver.messages.flatMap(({ data }) => data.changes ?? [])
    while (sent().length < 2) await page.waitForTimeout(100)
    expectEqual(
      sent().map(({ id, record }) => [id, Object.keys(record ?? {})]),
      [
        [1, ['id', 'name']],
        [2, ['id', 'name']],
      ],
    )
  },
  'its secret is rotated, and it is deleted by typing its host': async ({ page, fixture }) => {
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await dialogOf(page).getByRole('button', { name: 'Rotate secret' }).dblclick()
    expectEqual((await secretIn(page)).startsWith('whsec_'), true)
    await dialogOf(page).getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await dialogOf(page).getByLabel('Host of the receiver').fill(new URL(fixture.receiver.url).host)
    await dialogOf(page).getByRole('button', { name: 'Delete webhook' }).click()
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
  },
})
