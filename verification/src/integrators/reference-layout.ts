import type { Page } from 'playwright-core'

/** The width of a laptop's browser, and of a phone. */
export const widths = [1280, 390]

/** Runs in the page; text, because the project has no types of browser globals. */
const inspection = String.raw`(() => {
  const found = []
  const overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth
  if (overflow > 0) found.push(overflow + ' px wider than the window')
  for (const cell of document.querySelectorAll('td, th')) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      for (const { index, 0: word } of node.nodeValue.matchAll(/\w+/g)) {
        const range = document.createRange()
        range.setStart(node, index)
        range.setEnd(node, index + word.length)
        const lines = new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top)))
        if (lines.size > 1) found.push('broken word: ' + word)
      }
    }
  }
  return found
})()`

/** Faults of the layout that a reader would see: horizontal scrolling, broken words in tables. */
export async function layoutFaults(page: Page, path: string): Promise<string[]> {
  const faults = await page.evaluate<string[]>(inspection)
  return faults.map((fault) => `${path} at ${page.viewportSize()?.width} px: ${fault}`)
}
