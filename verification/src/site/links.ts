import type { Check } from '../check.ts'
import { addresses, builtPages, type SiteFixture, siteFixture } from './fixture.ts'

/** The targets of links in HTML. */
const linksIn = (html: string): string[] =>
  [...html.matchAll(/<a\b[^>]*? href="([^"]*)"/g)].map(([, link = '']) => link.replaceAll('&amp;', '&'))

const anchorsIn = (html: string): Set<string> =>
  new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id.replaceAll('&amp;', '&')))

interface Crawl {
  /** The HTML of every page, by its path. */
  readonly pages: ReadonlyMap<string, string>
  readonly wrong: readonly string[]
  /** The links that were followed. */
  readonly links: number
}

/** Requests the start page, and every page of the site to which a link leads; `of` selects the part of a page with its links. */
async function crawl(fixture: SiteFixture, of: (html: string) => string = (html) => html): Promise<Crawl> {
  const pages = new Map<string, string>()
  const wrong: string[] = []
  const found: { from: string; target: URL }[] = []
  const queue = ['/docs/']
  const seen = new Set(queue)
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    const { status, body } = await fixture.get(path)
    if (status !== 200) wrong.push(`${path}: ${status}`)
    if (!body.startsWith('<!DOCTYPE html>')) continue
    pages.set(path, body)
    for (const link of linksIn(of(body))) {
      const target = new URL(link, `http://site${path}`)
      if (target.host !== 'site') continue
      found.push({ from: path, target })
      if (seen.has(target.pathname)) continue
      seen.add(target.pathname)
      queue.push(target.pathname)
    }
  }
  const anchors = new Map([...pages].map(([path, html]) => [path, anchorsIn(html)]))
  const dead = found.filter(({ target: { pathname, hash } }) => {
    const ids = anchors.get(pathname)
    return hash !== '' && ids !== undefined && !ids.has(decodeURIComponent(hash.slice(1)))
  })
  return {
    pages,
    wrong: [
      ...wrong,
      ...new Set(dead.map(({ from, target }) => `${from}: ${target.pathname}${target.hash}`)),
    ],
    links: found.length,
  }
}

/** From the start page, every link and anchor of every page of the site exists, and the links lead to every page that was built. */
export const links: Check = {
  name: 'links',
  bound: '0 dead',
  async run(context) {
    const fixture = await siteFixture(context)
    const { pages, wrong, links: count } = await crawl(fixture)
    const built = builtPages().map((name) => `/docs/${name.replace(/(^|\/)index\.html$/, '$1')}`)
    const unreached = built.filter((path) => !pages.has(path))
    const all = [...wrong, ...unreached.map((path) => `${path}: no link leads to it`)]
    return {
      value: `${all.length} of ${count} links on ${pages.size} pages`,
      samples: Math.min(count, pages.size),
      ok: all.length === 0,
      ...(all.length === 0 ? {} : { note: all.slice(0, 20).join('\n') }),
    }
  },
}

/** The bar at the top and the list at the side. */
function navigationOf(html: string): string {
  const parts = [/<header class="VPNav"[\s\S]*?<\/header>/, /<aside class="VPSidebar"[\s\S]*?<\/aside>/]
  return parts.map((part) => part.exec(html)?.[0] ?? '').join('')
}

/** The navigation leads to every page, without a link in the text of a page. */
export const navigation: Check = {
  name: 'navigation',
  bound: 'all pages',
  async run(context) {
    const { pages } = await crawl(await siteFixture(context), navigationOf)
    const missing = addresses.filter((path) => !pages.has(path))
    return {
      value: `${addresses.length - missing.length} of ${addresses.length} pages`,
      samples: pages.size,
      ok: missing.length === 0 && pages.size > 1,
      ...(missing.length === 0 ? {} : { note: missing.slice(0, 20).join('\n') }),
    }
  },
}
