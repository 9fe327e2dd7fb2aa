import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** Paths of a deployment that are not part of the site. */
const ofTheService = /^\/(?:reference|console|openapi\.json)(?:[/?#]|$)/

/** The links of the built pages to a file or an anchor that does not exist, and everything that a page loads from another host. */
export function deadLinks(folder: string, base: string): string[] {
  const files = new Set(readdirSync(folder, { recursive: true, encoding: 'utf8' }))
  const pages = [...files].filter((name) => name.endsWith('.html'))
  const texts = new Map(pages.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
  const ids = new Map(
    [...texts].map(([name, html]) => [
      name,
      new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => decodeEntities(id))),
    ]),
  )
  return [...texts].flatMap(([name, html]) =>
    [...html.matchAll(/<(\w+)[^>]*? (?:href|src)="([^"]*)"/g)]
      .filter(([, tag = '', link = '']) => {
        if (/^[a-z]+:/i.test(link)) return tag !== 'a' && !link.startsWith('data:')
        if (ofTheService.test(link)) return false
        const [path = '', anchor = ''] = decodeEntities(link).split('#')
        const target = fileOf(name, decodeURI(path), base)
        if (target === undefined || !files.has(target)) return true
        return anchor !== '' && ids.get(target)?.has(decodeURIComponent(anchor)) !== true
      })
      .map(([, , link]) => `${name}: ${link}`),
  )
}

/** The file below the folder of the site that a page's link addresses; undefined outside it. */
function fileOf(page: string, path: string, base: string): string | undefined {
  if (path === '') return page
  if (path.startsWith('/') && !path.startsWith(base)) return undefined
  const target = path.startsWith('/')
    ? path.slice(base.length)
    : posix.join(posix.dirname(page), path).replace(/^\.\/?$/, '')
  return target === '' || target.endsWith('/') ? `${target}index.html` : target
}

function decodeEntities(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
