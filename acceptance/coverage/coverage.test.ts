import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const folder = new URL('../', import.meta.url)

/** What later work brings; nothing else may stay open. */
const mayBeOpen: readonly string[] = []
const open = 'open: brought later'

interface Row {
  readonly id: string
  readonly statement: string
  readonly shownBy: string
}

const rows: readonly Row[] = readFileSync(new URL('COVERAGE.md', folder), 'utf8')
  .split('\n')
  .map((line) => /^\| ([\dA-Z][\w.-]*) +\| (.*) \| (.*) \|$/.exec(line))
  .filter((match) => match !== null)
  .map(([, id = '', statement = '', shownBy = '']) => ({
    id,
    statement: statement.trim(),
    shownBy: shownBy.trim(),
  }))
  .filter(({ id }) => id !== 'Id')

/** The title of each test begins with the ids it shows: `[4.1-7][F1] …`. */
const titles = readdirSync(folder)
  .filter((name) => name.endsWith('.test.ts'))
  .flatMap((file) => {
    const calls = readFileSync(new URL(file, folder), 'utf8').matchAll(
      /(?:^|\s)(?:test|it)(\.\w+)?(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?\(\s*(.*)/gm,
    )
    return [...calls].map(([, variant = '', rest = '']) => ({ file, variant, rest }))
  })

const shown = titles.flatMap(({ file, rest }) => {
  const ids = /^['"`]((?:\[[^\]]+\])+) /.exec(rest)?.[1] ?? ''
  return [...ids.matchAll(/\[([^\]]+)\]/g)].map(([, id = '']) => ({ id, file }))
})

const filesOf = (id: string) => [...new Set(shown.filter((s) => s.id === id).map((s) => s.file))].toSorted()

const countTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)

function numbersIn(prefix: string): number[] {
  const numbers = rows.filter(({ id }) => id.startsWith(prefix)).map(({ id }) => id.slice(prefix.length))
  return numbers.filter((number) => /^\d+$/.test(number)).map(Number)
}

test('there are rows and tests to compare', () => {
  expect(rows.length).toBeGreaterThan(100)
  expect(titles.length).toBeGreaterThan(100)
})

test('every test begins its title with the ids of what it shows, and none is set aside', () => {
  expect(titles.filter(({ rest }) => !/^['"`](?:\[[^\]]+\])+ /.test(rest))).toEqual([])
  expect(titles.filter(({ variant }) => !['', '.skipIf'].includes(variant))).toEqual([])
})

test('no row stands twice', () => {
  const ids = rows.map(({ id }) => id)
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
})

test('no statement is missing between two, and no decision', () => {
  for (const section of [
    '1',
    '2.1',
    '2.2',
    '2.3',
    '3',
    '4',
    '4.1',
    '4.2',
    '4.3',
    '4.4',
    '4.5',
    '4.6',
    '4.7',
  ]) {
    expect(numbersIn(`${section}-`), section).toEqual(countTo(numbersIn(`${section}-`).length))
  }
  for (const section of ['5', '6', '7', '8', '9']) {
    expect(numbersIn(`${section}-`), section).toEqual(countTo(numbersIn(`${section}-`).length))
  }
  const decisions = { Q: 7, F: 11, R: 8, C: 3, A: 5, E: 3, V: 1 }
  for (const [letter, last] of Object.entries(decisions)) expect(numbersIn(letter)).toEqual(countTo(last))
})

test('every row has a test, and names the files it is in', () => {
  const kept = rows.filter(({ shownBy }) => shownBy !== open)
  const wrong = kept.filter(({ id, shownBy }) => filesOf(id).join(', ') !== shownBy || shownBy === '')
  const told = wrong.map(
    ({ id, shownBy }) => `${id}: COVERAGE.md says "${shownBy}", tests are in "${filesOf(id).join(', ')}"`,
  )
  expect(told).toEqual([])
})

test('every test has a row', () => {
  const known = new Set(rows.map(({ id }) => id))
  expect(shown.filter(({ id }) => !known.has(id))).toEqual([])
})

test('only what may be open is open, and is not shown by a test', () => {
  const opened = rows.filter(({ shownBy }) => shownBy === open).map(({ id }) => id)
  expect(opened.filter((id) => !mayBeOpen.includes(id))).toEqual([])
  expect(opened.filter((id) => filesOf(id).length > 0)).toEqual([])
})
