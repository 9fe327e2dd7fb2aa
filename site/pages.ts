import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, extname, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type NavigationPage, navigation } from './navigation.ts'

/** Which files of the repository are pages of the site, and where. Everything else that a page links to is copied. */

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Decision records: listed below their index, without an entry in the navigation. */
export const isRecord = (file: string) => /^docs\/adr\/\d/.test(file)

const navigated = navigation.flatMap(({ sections }) => sections.flatMap(({ pages }) => pages))

/** Every Markdown file of docs/, and those outside it that the navigation names. */
export const pages: readonly string[] = [
  ...readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
  ...navigated.map(({ file }) => file).filter((file) => !file.startsWith('docs/')),
].toSorted()

const isPage = new Set(pages)

/** The entry of a page in the navigation; undefined for a decision record. */
export function entryOf(file: string): NavigationPage | undefined {
  return navigated.find((page) => page.file === file)
}

/** Where the site has a page: `docs/guides/README.md` is `guides/index.md`. */
export function sitePath(file: string): string {
  // docs/security.md has this name already.
  if (file === 'SECURITY.md') return 'security-policy.md'
  const path = file.replace(/^docs\//, '').replace(/^site\/source\//, 'source/')
  return basename(path) === 'README.md' ? path.replace(/README\.md$/, 'index.md') : path.toLowerCase()
}

/** The address of a page below the base of the site. */
export const addressOf = (file: string) =>
  sitePath(file)
    .replace(/\.md$/, '.html')
    .replace(/(^|\/)index\.html$/, '$1')

/** Pictures keep their names. Everything else is copied as text, which a browser shows instead of saving it. */
const copyOf = (file: string) => `files/${file}${['.png', '.svg'].includes(extname(file)) ? '' : '.txt'}`

const isFolder = (path: string) => statSync(root + path).isDirectory()

/** The target of a relative link of a page, as a path of the repository. */
function targetOf(page: string, link: string): string {
  return posix.join(posix.dirname(page), decodeURI(link)).replace(/\/$/, '')
}

/** The files and folders that are no pages and that a page links to. */
export const linked: readonly string[] = [
  ...new Set(
    pages.flatMap((page) => {
      const text = readFileSync(root + page, 'utf8')
      return [...text.matchAll(/(?<!!\[[^\]]*)\]\((?![a-z]+:|#)([^)#\s]+)/g)]
        .map(([, link = '']) => targetOf(page, link))
        .filter((target) => !isPage.has(target) && statSync(root + target, { throwIfNoEntry: false }))
    }),
  ),
].toSorted()

/** Folders that are linked have a page with the list of their files. */
export const folders = linked.filter(isFolder)

function filesOf(folder: string): string[] {
  return readdirSync(root + folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|py|md|json|sh)$/.test(entry.name))
    .map(({ name }) => `${folder}/${name}`)
}

/** Sources and pictures that are linked, and where the site has a copy of each, so that no link leaves the site. */
export const copies: ReadonlyMap<string, string> = new Map(
  [...linked.filter((path) => !isFolder(path)), ...folders.flatMap(filesOf)].map((file) => [
    file,
    copyOf(file),
  ]),
)

/** The Markdown of the page of a folder. */
export function folderPage(folder: string): string {
  const items = filesOf(folder).map((file) => `- [${basename(file)}](/${copyOf(file)})\n`)
  return `# ${folder}\n\n${items.join('')}`
}

/** Where a link of a page leads on the site. Throws if it leads nowhere. */
export function resolveLink(page: string, href: string): string {
  if (/^(?:[a-z]+:|#|\/)/i.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const target = targetOf(page, path)
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (isPage.has(target)) return `/${sitePath(target)}${hash}`
  const copy = copies.get(target)
  if (copy !== undefined) return `/${copy}`
  if (folders.includes(target)) return `/source/${target}.md`
  throw new Error(`${page}: the link to ${href} does not lead to a file.`)
}
