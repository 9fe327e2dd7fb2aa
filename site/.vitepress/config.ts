import { cpSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type DefaultTheme, defineConfig } from 'vitepress'
import { codeTheme, codeTransformers } from '../code.ts'
import { licences } from '../licences.ts'
import { anchorOf, extendMarkdown } from '../markdown.ts'
import { type Audience, navigation, startPage } from '../navigation.ts'
import { addressOf, copies, entryOf, isRecord, pages, root, sitePath } from '../pages.ts'

const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

const linkTo = (file: string) => `/${addressOf(file)}`

const records = pages.filter(isRecord).map((file) => {
  const [, title = file] = /^# (.+)$/m.exec(readFileSync(root + file, 'utf8')) ?? []
  return { text: title.replaceAll('`', ''), link: linkTo(file) }
})

function sidebarOf({ text, sections }: Audience): DefaultTheme.SidebarItem[] {
  return sections.map((section) => ({
    text: section.text ?? text,
    items: section.pages.map(({ text: name, file }) => ({ text: name, link: linkTo(file) })),
  }))
}

const filesOf = ({ sections }: Audience) =>
  sections.flatMap((section) => section.pages.map(({ file }) => file))

const decisions = 'docs/adr/README.md'

/** A page has the sidebar of its audience. The index of the decisions and each of them also have the list of all. */
const sidebar: DefaultTheme.SidebarMulti = Object.fromEntries(
  navigation.flatMap((audience) => {
    const items = sidebarOf(audience)
    return filesOf(audience).map((file) =>
      file === decisions
        ? ['/adr/', [...items, { text: 'Records', items: records }]]
        : [`/${sitePath(file)}`, items],
    )
  }),
)

/** The HTML of a page for the search. Decision records would crowd out the pages that use them; their index is found. */
const searchable: DefaultTheme.LocalSearchOptions['_render'] = (source, env, markdown) => {
  const file = env.relativePath
  if (isRecord(file) || file === 'CHANGELOG.md') return ''
  const { highlight } = markdown.options
  markdown.options.highlight = null
  const html = markdown.render(source, env)
  markdown.options.highlight = highlight ?? null
  const { text: title = '', words = '' } = entryOf(file) ?? {}
  // An entry for the page as a whole, besides those of its headings.
  return `<h1>${title} <a href="#">#</a></h1>${words}${html}`
}

/** `search.ts` in the place of `minisearch`, in the dialog only. */
const ownSearch = {
  name: 'own-search',
  enforce: 'pre' as const,
  resolveId: (id: string, importer = '') =>
    id === 'minisearch' && importer.includes('VPLocalSearchBox.vue') ? `${root}site/search.ts` : undefined,
}

export default defineConfig({
  srcDir: root,
  // Only the files that `pages` lists, and the template of the pages of sources.
  srcExclude: excluded(),
  rewrites: (file) => (file.startsWith('site/source/') ? file.slice('site/'.length) : sitePath(file)),
  base: '/docs/',
  outDir: fileURLToPath(new URL('../dist', import.meta.url)),
  title: 'Quartermaster',
  titleTemplate: ':title · Quartermaster',
  description: 'Lists, filters, changes and exports of ERP data over HTTP.',
  lang: 'en',
  // Pages are .html, so that any host of static files can serve them.
  cleanUrls: false,
  metaChunk: true,
  // The text is painted before the scripts of the page are loaded and run.
  shouldPreload: () => false,
  // The Content-Security-Policy allows no style element.
  appearance: { disableTransition: false },
  head: [
    ['link', { rel: 'icon', href: 'data:,' }],
    ['meta', { name: 'referrer', content: 'no-referrer' }],
    ['meta', { name: 'color-scheme', content: 'light dark' }],
  ],
  markdown: {
    theme: codeTheme,
    codeTransformers,
    anchor: { slugify: anchorOf },
    config: extendMarkdown,
    toc: { slugify: anchorOf },
  },
  themeConfig: {
    siteTitle: 'Quartermaster',
    nav: navigation.map((audience) => ({
      text: audience.text,
      link: linkTo(filesOf(audience)[0] ?? ''),
      activeMatch: activeMatch(audience),
    })),
    sidebar,
    outline: [2, 3],
    externalLinkIcon: false,
    docFooter: { prev: 'Previous', next: 'Next' },
    footer: { message: `Version ${version} · Apache-2.0` },
    search: {
      provider: 'local',
      options: { _render: searchable, detailedView: false },
    },
  },
  vite: {
    build: {
      // The Content-Security-Policy allows no data: URL of a script, style or font.
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 4_000,
      reportCompressedSize: false,
    },
    publicDir: false,
    plugins: [ownSearch, licences],
    // Without this, esbuild reads the nearest tsconfig.json.
    esbuild: { tsconfigRaw: { compilerOptions: { target: 'es2022' } } },
  },
  transformPageData: ({ relativePath }) =>
    relativePath === sitePath(startPage) ? { titleTemplate: ':title' } : undefined,
  // The Content-Security-Policy rejects style attributes in HTML. VitePress has two: this one, and that of its contents, without
  // `contentProps`. Its script sets both of them later, as it may.
  transformHtml: (html) => html.replaceAll(' style="--vp-vh:0px;"', ''),
  contentProps: { class: 'content-root' },
  buildEnd({ outDir }) {
    for (const [file, name] of copies) {
      const copy = join(outDir, name)
      mkdirSync(dirname(copy), { recursive: true })
      cpSync(root + file, copy)
    }
  },
})

/** All Markdown files that are no pages: VitePress reads all that it does not exclude. */
function excluded(): string[] {
  const files = globSync('**/*.md', {
    cwd: root,
    exclude: (path) => /(?:^|\/)(?:node_modules|\..*|dist.*|out|release)$/.test(path),
  })
  const isPage = new Set([...pages, 'site/source/[path].md'])
  return ['**/.*/**', '**/out/**', 'release/**', ...files.filter((file) => !isPage.has(file))]
}

/** Matches the paths of the pages of an audience. */
function activeMatch(audience: Audience): string {
  const own = filesOf(audience).map((file) => linkTo(file).replace(/\.html$/, ''))
  const inFolder = filesOf(audience).includes(decisions) ? ['/adr/.*'] : []
  return `^(?:${[...own, ...inFolder].join('|')})$`
}
