import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { suites } from '../verification/src/suites.ts'

/** The pages for those who decide: each claim has its test or its source. documents.test.ts checks that links have targets. */

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Link {
  readonly label: string
  readonly target: string
}

const linksIn = (text: string): Link[] =>
  [...text.matchAll(/\[([^\]]+)\]\(([^)#]*)[^)]*\)/g)].map(([, label = '', target = '']) => ({
    label,
    target,
  }))
/** The cells of all rows of the tables in a text, without those of headings. */
const rowsIn = (text: string): string[][] =>
  text
    .split('\n')
    .filter(
      (line, at, lines) =>
        line.startsWith('|') && !line.startsWith('|---') && !lines[at + 1]?.startsWith('|---'),
    )
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )

describe('docs/consistency.md', () => {
  const [guaranteed = ''] = read('docs/consistency.md').split('\n## What is not guaranteed\n')
  const rows = rowsIn(guaranteed)
  const shown = rows.flatMap((cells) => linksIn(cells.at(-1) ?? ''))

  it('has a test or proof for every guarantee', () => {
    expect(rows.length).toBeGreaterThan(30)
    expect(rows.filter((cells) => linksIn(cells.at(-1) ?? '').length === 0)).toEqual([])
  })

  it('names proofs that exist, in the files that verification/README.md names', () => {
    const names = new Set(Object.values(suites).flatMap((checks) => checks.map(({ name }) => name)))
    const proofs = shown.filter(({ label }) => label.startsWith('`'))
    expect(proofs.length).toBeGreaterThan(20)
    const wrong = proofs.filter(({ label, target }) => {
      const file = target.replace('../verification/src/', '')
      const listed = read('verification/README.md').includes(`| ${label} | \`${file}\` |`)
      return !names.has(label.replaceAll('`', '')) || !listed
    })
    expect(wrong).toEqual([])
  })

  it('names tests that exist, by a part of their title', () => {
    const tests = shown.filter(({ label }) => !label.startsWith('`'))
    expect(tests.length).toBeGreaterThan(20)
    const titled = (file: string, title: string) =>
      [...read(file).matchAll(/\b(?:it|test)(?:\.each\([^)]*\))?\(\s*(['"`])(.*?)\1,/g)].some(
        ([, , found = '']) => found.includes(title),
      )
    expect(tests.filter(({ label, target }) => !titled(join('docs', target), label))).toEqual([])
  })
})

describe('docs/compare.md', () => {
  const [, ...sections] = read('docs/compare.md').split(/^## (?=Servers|The ERP|Your own)/m)

  it('has a source in every cell, or makes no statement', () => {
    const cells = sections.flatMap((section) => rowsIn(section)).flatMap(([, ...rest]) => rest)
    expect(cells.length).toBeGreaterThan(80)
    expect(cells.filter((cell) => cell !== '—' && linksIn(cell).length === 0)).toEqual([])
  })

  it('has the figures of docs/proof.md', () => {
    const figures = [...read('docs/compare.md').matchAll(/\[([\d.]+) times as many\]\(proof\.md/g)].map(
      ([, figure = '']) => figure,
    )
    expect(figures.length).toBeGreaterThan(4)
    expect(figures.filter((figure) => !read('docs/proof.md').includes(`**${figure} times**`))).toEqual([])
  })
})

describe('docs/operating/decide.md', () => {
  const links = linksIn(read('docs/operating/decide.md'))

  it('has the figures and versions of the pages that it links to', () => {
    const named = links.filter(({ label }) => /\d/.test(label))
    expect(named.length).toBeGreaterThan(8)
    const wrong = named.filter(({ label, target }) => {
      const text = read(join('docs/operating', target))
      return !(label.match(/\d[\d.,]*/g) ?? []).every((figure) => text.includes(figure))
    })
    expect(wrong).toEqual([])
  })
})

describe('README.md', () => {
  const readme = read('README.md')

  it('links to every page for those who decide, and each of them to another', () => {
    const pages = [
      'docs/compare.md',
      'docs/consistency.md',
      'docs/operating/decide.md',
      'docs/proof.md',
      'docs/scope.md',
    ]
    const linked = (file: string) => linksIn(read(file)).map(({ target }) => join(dirname(file), target))
    expect(pages.filter((page) => !linked('README.md').includes(page))).toEqual([])
    for (const page of pages)
      expect(linked(page).some((target) => pages.includes(target) && target !== page)).toBe(true)
  })

  it('has four claims, each with figures of docs/proof.md', () => {
    const claims = [...readme.matchAll(/^- \*\*.*\[Proof\]\(docs\/proof\.md#.*$/gm)].map(([line]) => line)
    expect(claims).toHaveLength(4)
    const figures = claims.flatMap((claim) => claim.match(/\d+,\d{3}/g) ?? [])
    expect(figures).toHaveLength(4)
    expect(figures.filter((figure) => !read('docs/proof.md').includes(figure))).toEqual([])
  })
})
