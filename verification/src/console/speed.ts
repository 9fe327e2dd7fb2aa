import { EventEmitter, once } from 'node:events'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { CDPSession, Page } from 'playwright-core'
import type { Check } from '../check.ts'
import { type ConsoleFixture, consoleFixture, dist } from './fixture.ts'

const firstViewMsMax = 1_500
const firstViewTimeoutMs = 60_000
/** The CPU of the page is this many times slower. */
const slowdown = 4
const bundleKbMax = 250
const framesMin = 50
const frameCpuMsMax = 11

/** The JavaScript that the page loads before it shows anything: its scripts and their preloaded imports. */
export const bundleSize: Check = {
  name: 'bundle_size',
  bound: `<= ${bundleKbMax} KB gzip`,
  async run(context) {
    await consoleFixture(context)
    const page = readFileSync(`${dist}index.html`, 'utf8')
    const names = page.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+\.js)"/g)
    const files = [...new Set([...names].map(([, file]) => file ?? ''))]
    const bytes = files.reduce(
      (sum, file) => sum + gzipSync(readFileSync(`${dist}${file}`), { level: 9 }).length,
      0,
    )
    const kb = Math.round(bytes / 100) / 10
    return {
      value: `${kb} KB in ${files.length} files`,
      samples: files.length,
      ok: files.length > 0 && kb <= bundleKbMax,
    }
  },
}

/** The page calls it with "rows", then with the milliseconds of the first view. */
const report = 'reportFirstView'

/**
 * Evaluated before the scripts of the page: reports when the rows are in the document, and when a key has selected the
 * second row and that is painted. Playwright's locators would evaluate their own code in the slowed page, and look for
 * an element only every 500 ms.
 */
const observeFirstView = `{
  let hasRows = false
  const observer = new MutationObserver(() => {
    const row = document.querySelector('[role=grid] [role=row][aria-rowindex="3"]')
    if (row === null) return
    if (!hasRows) ${report}('rows')
    hasRows = true
    if (row.getAttribute('aria-selected') !== 'true') return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => ${report}(String(performance.now()))))
  })
  observer.observe(document, { subtree: true, childList: true, attributeFilter: ['aria-selected'] })
}`

/** From the start of the navigation until the rows are there and a key has moved the selection. */
async function firstViewMs(fixture: ConsoleFixture): Promise<number> {
  return await fixture.withPage({ key: fixture.key }, async (page) => {
    const session = await page.context().newCDPSession(page)
    const reports = new EventEmitter()
    session.on('Runtime.bindingCalled', ({ payload }) =>
      payload === 'rows' ? reports.emit('rows') : reports.emit('painted', Number(payload)),
    )
    await session.send('Runtime.enable')
    await session.send('Runtime.addBinding', { name: report })
    await page.addInitScript(observeFirstView)
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
    const signal = AbortSignal.timeout(firstViewTimeoutMs)
    const rows = once(reports, 'rows', { signal })
    const painted = once(reports, 'painted', { signal })
    await page.goto(`${fixture.origin}/console/products`, { waitUntil: 'commit' })
    await rows
    await page.keyboard.press('j')
    const [ms] = await painted
    return Number(ms)
  })
}

/** The median, with a CPU a fourth as fast. */
export const firstView: Check = {
  name: 'first_view',
  bound: `<= ${firstViewMsMax} ms`,
  async run(context) {
    const fixture = await consoleFixture(context)
    const times: number[] = []
    for (let i = 0; i < context.size(7, 3); i++) times.push(await firstViewMs(fixture))
    const ms = Math.round(median(times))
    return {
      value: `${ms} ms (${times.map(Math.round).join(', ')})`,
      samples: times.length,
      ok: ms <= firstViewMsMax,
    }
  },
}

/** Evaluated in the page: scrolls the grid from its first to its last row, and returns the frames and the milliseconds. */
const scroll = `new Promise((resolve) => {
  const grid = document.querySelector('[role=grid]')
  const started = performance.now()
  let frames = 0
  const step = () => {
    frames += 1
    grid.scrollTop += 120
    if (grid.scrollTop + grid.clientHeight < grid.scrollHeight - 1) requestAnimationFrame(step)
    else resolve([frames, performance.now() - started])
  }
  requestAnimationFrame(step)
})`

interface Scrolled {
  readonly framesPerSecond: number
  /** Of the page's main thread, so other programs on this machine hardly change it. */
  readonly cpuMsPerFrame: number
}

/** Scrolls through 1,000 rows; `left` is how far the list is scrolled sideways, where its first column is pinned. */
async function scrolled(page: Page, session: CDPSession, left: number): Promise<Scrolled> {
  await page.evaluate(`document.querySelector('[role=grid]').scrollTo(${left}, 0)`)
  const cpuSeconds = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN
  }
  const before = await cpuSeconds()
  const [frames, ms] = await page.evaluate<[number, number]>(scroll)
  return {
    framesPerSecond: (frames * 1000) / ms,
    cpuMsPerFrame: ((await cpuSeconds()) - before) * (1000 / frames),
  }
}

export const scrolling: Check = {
  name: 'scrolling',
  bound: `>= ${framesMin} frames/s, or <= ${frameCpuMsMax} ms CPU per frame if others use the machine`,
  async run(context) {
    const fixture = await consoleFixture(context)
    return await fixture.withPage({ key: fixture.key }, async (page) => {
      const session = await page.context().newCDPSession(page)
      await session.send('Performance.enable', { timeDomain: 'threadTicks' })
      await page.goto(`${fixture.origin}/console/products?limit=1000`)
      await page.getByText('1–1,000').waitFor()
      const down: Scrolled[] = []
      for (let i = 0; i < 3; i++) down.push(await scrolled(page, session, 0))
      const pinned = await scrolled(page, session, 200)
      const frames = Math.round(median(down.map(({ framesPerSecond }) => framesPerSecond)))
      const cpuMs = median(down.map(({ cpuMsPerFrame }) => cpuMsPerFrame))
      return {
        value: `${frames} frames/s, ${cpuMs.toFixed(1)} ms CPU per frame over 1,000 rows`,
        samples: down.length,
        ok: frames >= framesMin || cpuMs <= frameCpuMsMax,
        note: `scrolled sideways: ${Math.round(pinned.framesPerSecond)} frames/s, ${pinned.cpuMsPerFrame.toFixed(1)} ms`,
      }
    })
  },
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
}
