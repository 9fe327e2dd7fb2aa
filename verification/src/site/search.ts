import type { Page } from 'playwright-core'
import type { Check } from '../check.ts'
import { siteFixture } from './fixture.ts'
import { questions } from './questions.ts'

const topMax = 3
/** Of all 50 questions. */
const foundMin = 48

/** Types a question into the search, and returns the addresses of the first results, each page counted as often as it is listed. */
async function resultsOf(page: Page, question: string): Promise<string[]> {
  const box = page.locator('.VPLocalSearchBox')
  const input = box.locator('input.search-input')
  await input.fill('')
  await box.locator('.result').first().waitFor({ state: 'detached' })
  await input.fill(question)
  await box.locator('.result, .no-results').first().waitFor()
  const hrefs = await box
    .locator('a.result')
    .evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''))
  return hrefs.slice(0, topMax).map((href) => new URL(href, page.url()).href.replace(/#.*$/, ''))
}

/** The search in Chromium lists the page that answers a question among the first three results. */
export const search: Check = {
  name: 'search',
  bound: `>= ${foundMin} of ${questions.length} in the top ${topMax}`,
  async run(context) {
    const fixture = await siteFixture(context)
    // The short form types every fifth question.
    const step = context.size(1, 5)
    const asked = questions.filter((_, index) => index % step === 0)
    const missed: string[] = []
    await fixture.withPage({}, async (page) => {
      await page.goto(`${fixture.origin}/docs/`)
      await page.getByRole('button', { name: 'Search' }).click()
      for (const [question, file] of asked) {
        const results = await resultsOf(page, question)
        if (!results.includes(fixture.pageUrl(file)))
          missed.push(`${question}: ${file}, found ${results.join(', ')}`)
      }
    })
    return {
      value: `${asked.length - missed.length} of ${asked.length}`,
      samples: asked.length,
      ok: missed.length <= Math.floor(((questions.length - foundMin) * asked.length) / questions.length),
      ...(missed.length === 0 ? {} : { note: missed.join('\n') }),
    }
  },
}
