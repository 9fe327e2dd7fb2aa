import { readFileSync } from 'node:fs'
import type { Page, Request } from 'playwright-core'
import type { Check } from '../check.ts'
import { axeFindingsOn } from './axe.ts'
import { type ConsoleFixture, consoleFixture } from './fixture.ts'

const interactiveMsMax = 4_000
const timeoutMs = 120_000
const slowdown = 4
/** 1.6 Mbit/s with 150 ms, as Lighthouse emulates a slow mobile connection. */
const network = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 }

/** Evaluated before the page: opens the last test request as soon as the page can, and notes when its form is painted. */
const observeForm = `document.addEventListener('DOMContentLoaded', () => {
  const details = [...document.querySelectorAll('.try')].at(-1)
  if (details === undefined) return
  details.addEventListener('toggle', () => requestAnimationFrame(() => setTimeout(() => {
    if (details.querySelector('form') !== null) document.documentElement.dataset.interactive = String(performance.now())
  })), { once: true })
  details.open = true
})`

/** Evaluated in the page: leaves only its first sections. */
const firstSections = `[...document.querySelectorAll('section')].slice(4).forEach((one) => one.remove())`

/** From the start of the navigation until a form for a test request has been opened and painted. */
async function interactiveMs(fixture: ConsoleFixture): Promise<number> {
  return await fixture.withPage({}, async (page) => {
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.emulateNetworkConditions', network)
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
    await page.addInitScript(observeForm)
    await page.goto(`${fixture.origin}/reference`, { waitUntil: 'commit' })
    const html = page.locator('html[data-interactive]')
    await html.waitFor({ state: 'attached', timeout: timeoutMs })
    return Number(await html.getAttribute('data-interactive'))
  })
}

/** The reference from the console and back, and a test request that sends only what a person has entered. */
async function journey(fixture: ConsoleFixture): Promise<string[]> {
  return await fixture.withPage({ key: fixture.key }, async (page) => {
    const faults: string[] = []
    await page.goto(`${fixture.origin}/console/products`)
    const sent: Request[] = []
    await page.getByRole('link', { name: 'API reference' }).click()
    await page.getByRole('heading', { name: 'API reference' }).waitFor()
    page.on('request', (request) => sent.push(request))
    const section = page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: 'List products' }) })
    await section.getByText('Test request').click()
    await section.getByLabel(/^limit/).fill('2')
    await section.getByLabel(/^filter/).fill('name*"a & b"|id>0')
    if (sent.length > 0) faults.push(`before Send: ${sent.map((one) => one.url()).join(', ')}`)
    await section.getByRole('button', { name: 'Send GET' }).click()
    await section.getByRole('status').filter({ hasText: '200' }).waitFor()
    faults.push(...(await sentFaults(fixture, sent)))
    if (!(await section.getByText('"pagination"').last().isVisible()))
      faults.push('the response is not shown')
    faults.push(...(await publicFaults(page, sent)))
    await page.getByRole('link', { name: 'Console', exact: true }).click()
    await page.getByRole('grid').getByRole('row').nth(1).waitFor()
    return faults
  })
}

async function sentFaults(fixture: ConsoleFixture, sent: readonly Request[]): Promise<string[]> {
  const urls = sent.map((one) => `${one.method()} ${one.url().replace(fixture.origin, '')}`)
  const expected = 'GET /api/v1/inventory/product?filter=name*%22a%20%26%20b%22%7Cid%3E0&limit=2'
  const faults = urls.join() === expected ? [] : [`sent ${urls.join(', ')}`]
  const headers = await sent[0]?.allHeaders()
  if (headers?.['authorization'] !== `Bearer ${fixture.key}`) faults.push("the console's key was not sent")
  for (const name of ['if-none-match', 'idempotency-key', 'content-type']) {
    if (headers?.[name] !== undefined) faults.push(`sent ${name}: ${headers[name]}`)
  }
  return faults
}

/** A path that needs no key gets none. */
async function publicFaults(page: Page, sent: Request[]): Promise<string[]> {
  sent.length = 0
  const section = page.locator('section[data-path="/livez"]')
  await section.getByText('Test request').click()
  await section.getByRole('button', { name: 'Send GET' }).click()
  await section.getByRole('status').filter({ hasText: '200' }).waitFor()
  const headers = await sent[0]?.allHeaders()
  return headers?.['authorization'] === undefined ? [] : ['/livez was sent the key']
}

/** The reference is soon usable on a slow phone, accessible, and sends nothing that its reader did not choose. */
export const reference: Check = {
  name: 'reference',
  bound: `<= ${interactiveMsMax} ms until interactive, 0 faults, axe 0 serious or critical`,
  async run(context) {
    const fixture = await consoleFixture(context)
    const times: number[] = []
    for (let i = 0; i < context.size(5, 1); i++) times.push(await interactiveMs(fixture))
    const ms = Math.round(
      times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN,
    )
    const faults = await journey(fixture)
    for (const scheme of context.quick ? (['light'] as const) : (['light', 'dark'] as const)) {
      for (const width of context.quick ? [1280] : [1280, 390]) {
        await fixture.withPage({ scheme, width }, async (page) => {
          await page.goto(`${fixture.origin}/reference`)
          // All sections are written alike; axe takes long for 150 of them.
          if (context.quick) await page.evaluate(firstSections)
          await page.locator('.try summary').first().click()
          faults.push(...(await axeFindingsOn(page, `${scheme}, ${width} px`)))
        })
      }
    }
    const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0]
    return {
      value: `${ms} ms at a load of ${load}, ${faults.length} faults`,
      samples: times.length,
      // CI runs on machines that others use, and does not measure times.
      ok: (context.quick || ms <= interactiveMsMax) && faults.length === 0,
      ...(faults.length === 0 ? {} : { note: faults.join('\n') }),
    }
  },
}
