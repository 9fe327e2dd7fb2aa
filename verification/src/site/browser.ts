import type { Check } from '../check.ts'
import { axeFindingsOn } from '../console/axe.ts'
import { violationsIn } from '../console/secrecy.ts'
import { addresses, type SiteFixture, siteFixture } from './fixture.ts'

const firstViewMsMax = 1_500
/** The CPU of the page is this many times slower. */
const slowdown = 4

const forms = (['light', 'dark'] as const).flatMap((scheme) =>
  [1280, 390].map((width) => ({ scheme, width })),
)

/** axe-core finds nothing serious or critical on any page, light and dark, on a desktop and on a phone. */
export const axeFindings: Check = {
  name: 'page_axe',
  bound: '0 serious or critical',
  async run(context) {
    const fixture = await siteFixture(context)
    // The short form checks every twentieth page.
    const step = context.size(1, 20)
    const sample = addresses.filter((_, index) => index % step === 0)
    const progress = context.progress('pages', sample.length * forms.length)
    const findings: string[] = []
    for (const form of forms) {
      await fixture.withPage(form, async (page) => {
        for (const path of sample) {
          await page.goto(fixture.origin + path, { waitUntil: 'load' })
          findings.push(...(await axeFindingsOn(page, `${path}, ${form.scheme}, ${form.width}`)))
          progress.step()
        }
      })
    }
    progress.end()
    return {
      value: `${findings.length} on ${sample.length} pages in ${forms.length} forms`,
      samples: sample.length * forms.length,
      ok: findings.length === 0,
      ...(findings.length === 0 ? {} : { note: findings.slice(0, 30).join('\n') }),
    }
  },
}

/** Evaluated in the page: when its largest text or picture was painted. */
const largestPaint = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime)).observe({ type: 'largest-contentful-paint', buffered: true })
})`

async function firstViewMs(fixture: SiteFixture, path: string): Promise<number> {
  return await fixture.withPage({}, async (page) => {
    const session = await page.context().newCDPSession(page)
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
    await page.goto(fixture.origin + path, { waitUntil: 'load' })
    return await page.evaluate<number>(largestPaint)
  })
}

/** The start page and the longest page, with a CPU a fourth as fast and nothing cached: the higher of the two medians. */
export const firstView: Check = {
  name: 'first_paint',
  bound: `<= ${firstViewMsMax} ms`,
  async run(context) {
    const fixture = await siteFixture(context)
    const count = context.size(7, 3)
    const medians: number[] = []
    for (const path of ['/docs/', '/docs/operating/incidents.html']) {
      const times: number[] = []
      for (let i = 0; i < count; i++) times.push(await firstViewMs(fixture, path))
      medians.push(Math.round(times.toSorted((one, other) => one - other)[Math.floor(count / 2)] ?? Infinity))
    }
    const [start, longest] = medians
    return {
      value: `${Math.max(...medians)} ms (start page ${start}, longest page ${longest})`,
      samples: count,
      ok: Math.max(...medians) <= firstViewMsMax,
    }
  },
}

/** What the browser did in all checks before: it asked no other host, and the policy, which allows nothing inline, blocked nothing. */
export const requests: Check = {
  name: 'requests',
  bound: '0 to other hosts, 0 violations',
  async run(context) {
    const fixture = await siteFixture(context)
    const { headers, body } = await fetch(`http://127.0.0.1:${fixture.server.port}/docs/`)
    await body?.cancel()
    const policy = headers.get('content-security-policy') ?? ''
    await fixture.withPage({ scheme: 'dark' }, async (page) => {
      await page.goto(`${fixture.origin}/docs/`, { waitUntil: 'networkidle' })
      await page.getByRole('switch').first().click()
      await page.goto(`${fixture.origin}/docs/console.html`, { waitUntil: 'networkidle' })
    })
    const foreign = fixture.urls.filter((url) => /^https?:/.test(url) && !url.startsWith(fixture.origin))
    const wrong = violationsIn(fixture.messages)
    if (!policy.includes("default-src 'none'") || policy.includes('unsafe'))
      wrong.push(`the policy is ${policy}`)
    return {
      value: `${foreign.length} to other hosts, ${wrong.length} violations`,
      samples: fixture.urls.length,
      ok: foreign.length === 0 && wrong.length === 0,
      note: [...new Set([...foreign, ...wrong])].slice(0, 20).join('\n'),
    }
  },
}

/** In a deployment, the samples for users of the API name the host that serves the page, and those for operators do not. */
export const ownHost: Check = {
  name: 'own_host',
  bound: 'every sample of the API',
  async run(context) {
    const fixture = await siteFixture(context)
    return await fixture.withPage({}, async (page) => {
      const code = () => page.locator('.vp-doc code').allInnerTexts()
      const count = async (path: string, origin: string) => {
        await page.goto(fixture.origin + path, { waitUntil: 'networkidle' })
        return (await code()).join('\n').split(origin).length - 1
      }
      const own = await count('/docs/api.html', fixture.origin)
      const left = await count('/docs/api.html', 'http://127.0.0.1:8080')
      const ofOperators = await count('/docs/operating/install.html', fixture.origin)
      return {
        value: `${own} of ${own + left} in the reference, ${ofOperators} for operators`,
        samples: own,
        ok: own > 0 && left === 0 && ofOperators === 0,
      }
    })
  },
}
