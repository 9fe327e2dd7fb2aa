import type { Page } from 'playwright-core'
import type { Check } from '../check.ts'
import { type ConsoleFixture, consoleFixture, violationPrefix } from './fixture.ts'

/** Signs in, browses, filters and creates a key. Returns the keys that were used and shown. */
async function useKeys(fixture: ConsoleFixture): Promise<string[]> {
  return await fixture.withPage({}, async (page) => {
    await page.goto(`${fixture.origin}/console/products`)
    await page.getByLabel('API key').fill(fixture.key)
    await page.getByLabel('API key').press('Enter')
    await page.getByRole('grid').getByRole('row').nth(1).click()
    await page.getByRole('complementary').waitFor()
    await page.goto(`${fixture.origin}/console/keys?dialog=create`)
    await page.getByLabel('Name').fill('secrecy')
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('button', { name: 'Copy key' }).click()
    await page.getByText('Copied').waitFor()
    const created = await page.evaluate<string>('navigator.clipboard.readText()')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('grid').getByRole('row').nth(1).waitFor()
    const left = await page.evaluate<string>('document.documentElement.outerHTML')
    if (left.includes(created)) throw new Error('the new key is still in the document')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    fixture.stored.push(await page.evaluate<string>('JSON.stringify(sessionStorage)'))
    return [fixture.key, fixture.readerKey, created]
  })
}

/** No key is in an address, in local storage, the history, the browser's console or the log of the service. */
export const keysNowhere: Check = {
  name: 'keys_nowhere',
  bound: '0 places',
  async run(context) {
    const fixture = await consoleFixture(context)
    const keys = await useKeys(fixture)
    const { urls, messages, stored } = fixture
    const places = {
      'an address': urls.join('\n'),
      "the browser's console": messages.join('\n'),
      'local storage, history, cookies, or session storage after signing out': stored.join('\n'),
      'the log of the service': fixture.log,
    }
    const found = Object.entries(places)
      .filter(([, text]) => keys.some((key) => key.length > 20 && text.includes(key)))
      .map(([place]) => place)
    return {
      value: `${found.length} places (${urls.length} addresses, ${stored.length} pages)`,
      samples: Math.min(urls.length, stored.length, fixture.log.length),
      ok: found.length === 0 && urls.length > 0 && fixture.log.length > 0,
      ...(found.length === 0 ? {} : { note: found.join('\n') }),
    }
  },
}

/** Errors of pages, and what the policy blocked: as the page described it, otherwise as the browser reports it. */
export function violationsIn(messages: readonly string[]): string[] {
  const errors = messages.filter((text) => text.startsWith('page error'))
  const described = messages.filter((text) => text.startsWith(violationPrefix))
  const blocked = messages.filter((text) => /content security policy/i.test(text))
  return [...errors, ...(described.length >= blocked.length ? described : blocked)]
}

/**
 * Replaces the text of the filter in a page that is too busy to notify the editor of the selection first. The browser
 * would then replace the text itself, and give it a `style` attribute.
 */
async function replaceFilters(page: Page, url: string): Promise<void> {
  await page.goto(url)
  const filter = page.getByRole('textbox', { name: 'Filter' }).and(page.locator('[contenteditable]'))
  await filter.click()
  await page.evaluate(
    'setInterval(() => { const end = performance.now() + 60; while (performance.now() < end); }, 70)',
  )
  for (let index = 0; index < 10; index++) {
    await filter.fill('(list_price<=50&active=true)')
    await filter.fill('list_price<=50&active=true')
  }
}

/** The policy forbids inline scripts and styles, and no page of the run violated it or reported another error. */
export const csp: Check = {
  name: 'csp',
  bound: '0 violations',
  async run(context) {
    const fixture = await consoleFixture(context)
    const response = await fetch(`http://127.0.0.1:${fixture.server.port}/console/products`)
    await response.arrayBuffer()
    const policy = response.headers.get('content-security-policy') ?? ''
    await fixture.withPage({ key: fixture.key }, async (page) => {
      for (const path of [
        'products?record=1',
        'partners',
        'companies',
        'keys',
        'audit',
        'requests',
        'usage',
      ]) {
        await page.goto(`${fixture.origin}/console/${path}`, { waitUntil: 'networkidle' })
      }
      await replaceFilters(page, `${fixture.origin}/console/products`)
    })
    const wrong = violationsIn(fixture.messages)
    if (!policy.includes("default-src 'none'") || policy.includes('unsafe'))
      wrong.push(`the policy is ${policy}`)
    // Some steps sign in to another account, which is another host of the same server.
    const { port } = new URL(fixture.origin)
    const isOfServer = ({ hostname, port: of }: URL) => of === port && /(?:^|\.)localhost$/.test(hostname)
    const foreign = fixture.urls.filter((url) => /^https?:/.test(url) && !isOfServer(new URL(url)))
    return {
      value: `${wrong.length} (${foreign.length} requests to other hosts)`,
      samples: fixture.urls.length,
      ok: wrong.length === 0 && foreign.length === 0,
      note: [...new Set([...wrong, ...foreign])].slice(0, 10).join('\n'),
    }
  },
}
