import axe from 'axe-core'
import type { Page } from 'playwright-core'
import type { Check } from '../check.ts'
import { type ConsoleFixture, consoleFixture, type PageOptions } from './fixture.ts'
import { views } from './views.ts'

interface Finding {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

/** How people look at a page. The last one is a window of 1280 by 800 pixels at 400 %. */
const modes: Readonly<Record<string, PageOptions>> = {
  light: { scheme: 'light' },
  dark: { scheme: 'dark' },
  'forced colours': { forcedColors: 'active' },
  '400 %': { width: 320, height: 200 },
}

/** axe-core finds nothing serious or critical on any page, in any of the modes. */
export const axeFindings: Check = {
  name: 'axe',
  bound: '0 serious or critical',
  async run(context) {
    const fixture = await consoleFixture(context)
    const findings: string[] = []
    let pages = 0
    for (const [mode, options] of Object.entries(modes)) {
      await fixture.withPage(options, async (page) => {
        await page.goto(`${fixture.origin}/console`)
        await page.getByLabel('API key').waitFor()
        findings.push(...(await axeFindingsOn(page, `sign-in, ${mode}`)))
        pages += 1
      })
      findings.push(...(await signedIn(fixture, mode, options, () => (pages += 1))))
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
  mode: string,
  options: PageOptions,
  onPage: () => void,
): Promise<string[]> {
  return await fixture.withPage({ ...options, key: fixture.key }, async (page) => {
    const findings: string[] = []
    for (const [name, { path, until }] of Object.entries(views)) {
      await page.goto(`${fixture.origin}/console${path}`)
      await until(page)
      findings.push(...(await axeFindingsOn(page, `${name}, ${mode}`)))
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
  const { violations } = await page.evaluate<{ violations: Finding[] }>(
    "axe.run(document, { rules: { 'target-size': { enabled: true } } })",
  )
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
