import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { deadLinks } from '../site/dead-links.ts'
import { navigation, startPage } from '../site/navigation.ts'
import { addressOf, folders, isRecord, linked, pages, resolveLink, sitePath } from '../site/pages.ts'
import { spread, termsOf } from '../site/search.ts'

/** The site has every document, and its navigation leads to each. `npm run verify -- site` verifies the built pages. */

const navigated = navigation.flatMap(({ sections }) =>
  sections.flatMap(({ pages: all }) => all.map(({ file }) => file)),
)

it('every page, decision records aside, is in the navigation exactly once: add it to site/navigation.ts', () => {
  expect(pages.length).toBeGreaterThan(100)
  expect(navigated.toSorted()).toEqual(pages.filter((file) => !isRecord(file)).toSorted())
  expect(navigated[0]).toBe(startPage)
})

it('every page has an address of its own', () => {
  const addresses = [...pages, ...folders.map((path) => `site/source/${path}.md`)].map((file) =>
    addressOf(file),
  )
  expect(new Set(addresses).size).toBe(addresses.length)
  expect(addressOf(startPage)).toBe('')
  expect(addressOf('docs/guides/README.md')).toBe('guides/')
  expect(sitePath('docs/guides/keep-a-copy.md')).toBe('guides/keep-a-copy.md')
})

it('links to other files of the repository lead to pages and copies of the site', () => {
  expect(resolveLink('docs/guides/keep-a-copy.md', '../api.md#changes')).toBe('/api.md#changes')
  expect(resolveLink('docs/guides/README.md', '../../examples')).toBe('/source/examples.md')
  expect(resolveLink('README.md', 'LICENSE')).toBe('/files/LICENSE.txt')
  expect(linked).toContain('LICENSE')
  expect(() => resolveLink('README.md', 'nope.md')).toThrow('does not lead to a file')
})

it('the search leaves out words that say nothing, and does not list one page only', () => {
  expect(termsOf('How do I get started?')).toBe('started?')
  expect(termsOf('how to do it')).toBe('how to do it')
  const ids = ['/a#1', '/a#2', '/a#3', '/b#1', '/c', '/a#4']
  expect(spread(ids.map((id) => ({ id }))).map(({ id }) => id)).toEqual([
    '/a#1',
    '/a#2',
    '/b#1',
    '/c',
    '/a#3',
    '/a#4',
  ])
})

it('the build finds dead links, dead anchors, and what is loaded from another host', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-links-'))
  const write = (name: string, html: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), html)
  }
  try {
    write(
      'index.html',
      '<a href="/docs/guides/">x</a><a class="y" href="/docs/guides/a.html#b">x</a><a href="#c">x</a>',
    )
    write(
      'guides/index.html',
      '<a href="a.html">x</a><a href="/docs/nope.html">x</a><a href="/reference">x</a><a href="/elsewhere">x</a>',
    )
    write(
      'guides/a.html',
      '<h2 id="b">x</h2><img src="https://example.com/x.png"><a href="https://example.com">x</a>',
    )
    expect(new Set(deadLinks(folder, '/docs/'))).toEqual(
      new Set([
        'index.html: #c',
        'guides/a.html: https://example.com/x.png',
        'guides/index.html: /docs/nope.html',
        'guides/index.html: /elsewhere',
      ]),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})
