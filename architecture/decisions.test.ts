import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/** The decision records, and the page that has a paragraph of each. */

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const records = readdirSync(join(root, 'docs/adr')).filter((file) => file !== 'README.md')
const page = read('docs/adr/README.md')

const wordsIn = (text: string) => text.split(/\s+/).length

/** The paragraphs of the page that are about a record: its file, and the text without the rows. */
const paragraphs = page
  .split('\n\n')
  .map((paragraph) => /^\*\*\[(\d{4})\]\((\1-[\w-]+\.md)\) [^*]+\.\*\*\s([^*]+)/.exec(paragraph))
  .flatMap((match) => (match === null ? [] : [{ file: match[2] ?? '', text: match[3] ?? '' }]))

it('every row of a decision in acceptance/COVERAGE.md is named', () => {
  const rows = [...read('acceptance/COVERAGE.md').matchAll(/^\| ([QFRCAEV]\d+)\b/gm)].map(
    (match) => match[1] ?? '',
  )
  expect(rows.length).toBeGreaterThan(30)
  const named = new Set(
    [...page.matchAll(/\*Rows: ([\w, ]+)\.\*$/gm)].flatMap(([, names = '']) => names.split(', ')),
  )
  expect([...new Set(rows)].filter((row) => !named.has(row))).toEqual([])
})

describe('Decisions in an hour', () => {
  it('has one paragraph of each record', () => {
    expect(records.length).toBeGreaterThan(40)
    expect(paragraphs.map(({ file }) => file).toSorted()).toEqual(records.toSorted())
  })

  it('has paragraphs of two to four sentences', () => {
    const unusual = paragraphs.filter(({ text }) => wordsIn(text) < 25 || wordsIn(text) > 110)
    expect(unusual).toEqual([])
  })

  it('can be read in an hour, at 150 words a minute', () => {
    expect(wordsIn(page)).toBeLessThan(60 * 150)
  })
})

describe.each(records)('%s', (file) => {
  const [title = '', empty, status = ''] = read(`docs/adr/${file}`).split('\n')

  it('has its number in the title', () => {
    expect(file).toMatch(/^\d{4}-[a-z\d-]+\.md$/)
    expect(title).toMatch(/^# \d{4}\. \S/)
    expect(title.slice(2, 6)).toBe(file.slice(0, 4))
  })

  it('has a status and a date', () => {
    expect(empty).toBe('')
    expect(status).toMatch(
      /^Status: (?:accepted(?:, in part superseded by \[\d{4}\]\([\w-]+\.md\))?|superseded by \[\d{4}\]\([\w-]+\.md\)) · Date: \d{4}-\d{2}-\d{2}$/,
    )
  })
})
