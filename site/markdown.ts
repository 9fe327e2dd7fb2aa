import { posix, relative } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'
import { startPage } from './navigation.ts'
import { resolveLink, root } from './pages.ts'

/** The anchor that GitHub gives to a heading, so that a link works there and here. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\-_ ]/gu, '')
    .replaceAll(' ', '-')
}

/** The Markdown file of a page, as a path of the repository. */
const fileOf = (env: { realPath?: string; path: string }) =>
  relative(root, env.realPath ?? env.path).replaceAll('\\', posix.sep)

/** Languages of code blocks whose grammar Shiki does not have. */
const plainLanguages = /^(?:filter|filter-error|haproxy)(?= |$)/

export function extendMarkdown(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('plain-languages', ({ tokens }) => {
    for (const token of tokens) token.info = token.info.replace(plainLanguages, 'txt')
  })
  markdown.core.ruler.push('links', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null
      if (href !== null) token.attrSet('href', resolveLink(fileOf(env), href))
    }
  })
  // A `style` attribute would be rejected by the Content-Security-Policy.
  markdown.core.ruler.push('aligned-cells', ({ tokens }) => {
    for (const token of tokens) {
      const style = token.attrGet('style')
      if (style === null) continue
      token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style')
      token.attrJoin('class', style.replace('text-align:', 'align-'))
    }
  })
  markdown.core.ruler.push('audiences', ({ Token, tokens, env }) => {
    if (fileOf(env) !== startPage) return
    const first = tokens.findIndex(({ type, tag }) => type === 'heading_open' && tag === 'h2')
    const block = new Token('html_block', '', 0)
    block.content = '<SiteAudiences />\n'
    tokens.splice(first, 0, block)
  })
}
