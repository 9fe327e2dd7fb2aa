import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, extname, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { navigation } from './navigation.ts'

/** Which files of the repository are pages of the site, and where. Everything else that a page links to becomes a page or a copy. */

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

/** The words that the navigation adds to a page for the search. */
export const wordsOf: Readonly<Record<string, string>> = Object.fromEntries(
  navigated.map(({ file, words = '' }) => [file, words]),
)

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

/** Shown as they are: copied to `files/`. */
const isImage = (file: string) => ['.png', '.svg'].includes(extname(file))

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

export const linkedImages = linked.filter(isImage)

/** Sources and folders that are linked become pages of their own, so that no link leaves the site. Folders bring their files. */
export const sources: readonly string[] = [
  ...new Set(
    linked
      .filter((path) => !isImage(path))
      .flatMap((path) =>
        statSync(root + path).isDirectory()
          ? [path, ...filesOf(path).map((name) => `${path}/${name}`)]
          : [path],
      ),
  ),
].toSorted()

function filesOf(folder: string): string[] {
  return readdirSync(root + folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|py|md|json|sh)$/.test(entry.name))
    .map(({ name }) => name)
}

/** The Markdown of the page of a source file or a folder. */
export function sourcePage(path: string): string {
  const heading = `# ${path}\n\n`
  if (statSync(root + path).isDirectory()) {
    return (
      heading +
      filesOf(path)
        .map((name) => `- [${name}](/source/${path}/${name}.md)\n`)
        .join('')
    )
  }
  const text = readFileSync(root + path, 'utf8')
  const language = extname(path).slice(1) || 'text'
  return `${heading}\`\`\`\`${language}\n${text.replace(/\n?$/, '\n')}\`\`\`\`\n`
}

/** Where a link of a page leads on the site. Throws if it leads nowhere. */
export function resolveLink(page: string, href: string): string {
  if (/^(?:[a-z]+:|#|\/)/i.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const target = targetOf(page, path)
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (isPage.has(target)) return `/${sitePath(target)}${hash}`
  if (linkedImages.includes(target)) return `/files/${target}`
  if (sources.includes(target)) return `/source/${target}.md${hash}`
  throw new Error(`${page}: the link to ${href} leads to no file.`)
}
