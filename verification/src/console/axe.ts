import axe from 'axe-core'
import type { Page } from 'playwright-core'
import type { Check } from '../check.ts'
import { type ConsoleFixture, consoleFixture } from './fixture.ts'

interface Finding {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

const grid = async (page: Page) => await page.getByRole('grid').getByRole('row').nth(1).waitFor()

const listOrNone = async (page: Page) =>
  await page.getByText('No records').or(page.getByRole('gridcell')).first().waitFor()

/** Every page and dialog: its address, and what must be visible before it is checked. */
const views: Readonly<Record<string, { path: string; until: (page: Page) => Promise<unknown> }>> = {
  products: { path: '/products', until: grid },
  'a record': { path: '/products?record=2', until: grid },
  'the request': { path: '/products?panel=request&filter=active=true', until: grid },
  'a wrong filter': {
    path: '/products?filter=nope=1',
    until: async (page) => await page.getByRole('alert').waitFor(),
  },
  'no match': {
    path: '/products?filter=id=0',
    until: async (page) => await page.getByText('matches the filter').waitFor(),
  },
  partners: { path: '/partners', until: grid },
  'change a partner': {
    path: '/partners?record=2&dialog=edit',
    until: async (page) => await page.getByLabel('Phone').waitFor(),
  },
  'delete a partner': {
    path: '/partners?record=2&dialog=delete',
    until: async (page) => {
      const dialog = page.getByRole('dialog')
      const confirm = dialog.getByLabel('Name of the partner')
      await confirm.fill((await page.getByRole('complementary').getByRole('heading').textContent()) ?? '')
      await dialog.getByRole('button', { name: 'Delete partner' }).and(page.locator(':enabled')).waitFor()
    },
  },
  'a search': { path: '/partners?search=gmbh&sort=-name', until: grid },
  'create a partner': {
    path: '/partners?dialog=create',
    until: async (page) => await page.getByLabel('Name').waitFor(),
  },
  companies: { path: '/companies', until: grid },
  keys: { path: '/keys', until: grid },
  'create a key': {
    path: '/keys?dialog=create',
    until: async (page) => await page.getByLabel('Name').waitFor(),
  },
  changes: {
    path: '/changes',
    until: async (page) => await page.getByRole('region', { name: 'Deleted' }).waitFor(),
  },
  webhooks: { path: '/webhooks', until: listOrNone },
  'create a webhook': {
    path: '/webhooks?dialog=create',
    until: async (page) => await page.getByLabel('URL of the receiver').waitFor(),
  },
  deliveries: { path: '/deliveries', until: listOrNone },
  'declare a field': {
    path: '/fields?dialog=create',
    until: async (page) => await page.getByLabel('Label').waitFor(),
  },
  import: {
    path: '/import',
    until: async (page) => {
      await page.getByLabel('CSV file').setInputFiles({
        name: 'products.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from('id,name,list_price,colour\n1,Anchor,1.5,red\n2,Bolt,cheap,blue\n'),
      })
      await page.getByRole('button', { name: 'Preview' }).click()
      await page.getByRole('region', { name: 'Preview' }).waitFor()
    },
  },
  audit: { path: '/audit', until: grid },
  requests: { path: '/requests', until: grid },
  usage: { path: '/usage', until: async (page) => await page.getByText('By route').waitFor() },
  palette: {
    path: '/products',
    until: async (page) => {
      await grid(page)
      await page.keyboard.press('Control+k')
      await page.getByRole('listbox', { name: 'Commands' }).getByRole('option').first().waitFor()
    },
  },
  help: {
    path: '/products',
    until: async (page) => {
      await grid(page)
      await page.keyboard.press('?')
      await page.getByText('Operators of each type').waitFor()
    },
  },
}

/** axe-core finds nothing serious or critical on any page, light and dark. */
export const axeFindings: Check = {
  name: 'axe',
  bound: '0 serious or critical',
  async run(context) {
    const fixture = await consoleFixture(context)
    const findings: string[] = []
    let pages = 0
    for (const scheme of ['light', 'dark'] as const) {
      await fixture.withPage({ scheme }, async (page) => {
        await page.goto(`${fixture.origin}/console`)
        await page.getByLabel('API key').waitFor()
        findings.push(...(await axeFindingsOn(page, `sign-in, ${scheme}`)))
        pages += 1
      })
      findings.push(...(await signedIn(fixture, scheme, () => (pages += 1))))
    }
    return {
      value: `${findings.length} on ${pages} pages`,
      samples: pages,
      ok: findings.length === 0 && pages > 0,
      ...(findings.length === 0 ? {} : { note: findings.slice(0, 20).join('\n') }),
    }
  },
}

async function signedIn(
  fixture: ConsoleFixture,
  scheme: 'light' | 'dark',
  onPage: () => void,
): Promise<string[]> {
  return await fixture.withPage({ scheme, key: fixture.key }, async (page) => {
    const findings: string[] = []
    for (const [name, { path, until }] of Object.entries(views)) {
      await page.goto(`${fixture.origin}/console${path}`)
      await until(page)
      findings.push(...(await axeFindingsOn(page, `${name}, ${scheme}`)))
      onPage()
    }
    return findings
  })
}

/** The serious and critical findings on this page. */
export async function axeFindingsOn(page: Page, name: string): Promise<string[]> {
  // Not a script element, which the Content-Security-Policy would reject.
  await page.evaluate(axe.source)
  // Half-transparent colours during a transition have another contrast.
  await page
    .evaluate(
      'Promise.all(document.getAnimations().filter((one) => one.effect.getTiming().iterations !== Infinity).map((one) => one.finished.catch(() => {})))',
    )
    .catch(() => {})
  const { violations } = await page.evaluate<{ violations: Finding[] }>('axe.run(document)')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${name}: ${id}: ${nodes
          .map(({ html }) => html.slice(0, 160))
          .slice(0, 3)
          .join(' ')}`,
    )
}
