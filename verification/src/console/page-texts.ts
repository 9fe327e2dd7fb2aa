/** Evaluated in a page: its texts, and which of them are cut or overlap. */

export interface PageTexts {
  readonly texts: readonly string[]
  readonly cut: readonly string[]
  readonly overlapping: readonly string[]
}

/** Values of records, programs, and messages of the service, which stay in their language and may be cut. */
const data = [
  '[role=gridcell]',
  'code',
  'pre',
  'dd',
  '.problem',
  '.brand',
  '.chip-text',
  '.search-chip > span',
  '.panel-head h2',
  '.palette-why',
  '.cm-content',
  '[title^="x_"]',
  '.palette-list li:has(.palette-why)',
].join(',')

export const pageTexts = `(() => {
  const data = ${JSON.stringify(data)}
  const texts = new Set(), cut = new Set(), overlapping = new Set(), runs = []
  const isModal = document.querySelector('[aria-modal=true]') !== null
  const styleOf = (element) => getComputedStyle(element)
  const isHidden = (element) => {
    for (let one = element; one !== null; one = one.parentElement) {
      const { clipPath, opacity, visibility, display } = styleOf(one)
      if (clipPath !== 'none' || opacity === '0' || visibility === 'hidden' || display === 'none') return true
    }
    return false
  }
  const layerOf = (element) => element.closest('[role=dialog],[role=menu],.mantine-Popover-dropdown,.nav,.panel')
  const nameOf = (element) => element.tagName.toLowerCase() + '.' + element.className
  const look = (node) => {
    const element = node.parentElement
    const text = node.textContent.trim()
    if (element === null || text === '' || element.matches('script,style,noscript') || isHidden(element)) return
    if (element.closest(data) !== null) return
    const range = document.createRange()
    range.selectNodeContents(node)
    for (const full of range.getClientRects()) {
      if (full.width === 0 || full.height === 0) continue
      let { left, right, top, bottom } = full
      let isScrolled = false
      for (let one = element; one !== null; one = one.parentElement) {
        const { overflowX, overflowY } = styleOf(one)
        if (overflowX === 'visible' && overflowY === 'visible') continue
        const box = one.getBoundingClientRect()
        const scrolls = overflowX === 'auto' || overflowX === 'scroll' || overflowY === 'auto' || overflowY === 'scroll'
        const isOut = right > box.right + 1.5 || left < box.left - 1.5
        if (scrolls) isScrolled ||= isOut || bottom > box.bottom || top < box.top
        else if (isOut && !isScrolled) cut.add(nameOf(one) + ': ' + text.slice(0, 80))
        left = Math.max(left, box.left)
        right = Math.min(right, box.right)
        top = Math.max(top, box.top)
        bottom = Math.min(bottom, box.bottom)
      }
      if (right - left > 1 && bottom - top > 1) runs.push({ element, text, left, right, top, bottom })
    }
    texts.add(text)
  }
  const walk = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) { look(node); continue }
      if (node.shadowRoot) walk(node.shadowRoot)
      if (node.closest(data) !== null || node.closest('svg') !== null) continue
      for (const name of ['aria-label', 'title', 'placeholder', 'alt']) {
        const text = node.getAttribute(name)
        if (text) texts.add(text)
      }
    }
  }
  walk(document.body)
  texts.add(document.title)
  const shown = runs.filter(({ element }) => {
    const layer = layerOf(element)
    return !isModal || layer?.closest('[aria-modal=true]') != null
  })
  shown.forEach((one, index) => {
    for (const other of shown.slice(index + 1)) {
      if (one.element === other.element || one.element.contains(other.element) || other.element.contains(one.element)) continue
      if (layerOf(one.element) !== layerOf(other.element)) continue
      const width = Math.min(one.right, other.right) - Math.max(one.left, other.left)
      const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
      if (width > 2 && height > 5) overlapping.add(one.text.slice(0, 60) + ' / ' + other.text.slice(0, 60))
    }
  })
  return { texts: [...texts], cut: [...cut], overlapping: [...overlapping] }
})()`
