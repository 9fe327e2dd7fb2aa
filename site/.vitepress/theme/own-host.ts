import { data as audiences } from './audiences.data.ts'

/** The host of the samples, which is that of a service on the reader's own machine. */
const sampleOrigin = 'http://127.0.0.1:8080'

/** The deployment serves the site at this path; elsewhere, the origin of the page is not that of an API. */
const served = '/docs/'

/**
 * In a deployment, the samples for users of the API name the host of the account that the reader is on, so that they work as they are
 * copied. Those for operators keep the host of the machine that they set up.
 */
export function showOwnHost(path: string): void {
  if (import.meta.env.BASE_URL !== served) return
  const page = path.slice(served.length - 1)
  if (!audiences.some(({ hasOwnHost, links }) => hasOwnHost && links.includes(page))) return
  for (const code of document.querySelectorAll('.vp-doc code')) {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const text = node.nodeValue ?? ''
      if (text.includes(sampleOrigin)) node.nodeValue = text.replaceAll(sampleOrigin, location.origin)
    }
  }
}
