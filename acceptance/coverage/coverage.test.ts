import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const folder = new URL('../', import.meta.url)

/** Rows that may be without a test for now. */
const allowedWithoutTest: readonly string[] = []
const withoutTest = 'open: not tested yet'

interface Row {
  readonly id: string
  readonly statement: string
  readonly testFiles: string
}

const rows: readonly Row[] = readFileSync(new URL('COVERAGE.md', folder), 'utf8')
  .split('\n')
  .map((line) => /^\| ([\dA-Z][\w.-]*) +\| (.*) \| (.*) \|$/.exec(line))
  .filter((match) => match !== null)
  .map(([, id = '', statement = '', testFiles = '']) => ({
    id,
    statement: statement.trim(),
    testFiles: testFiles.trim(),
  }))
  .filter(({ id }) => id !== 'Id')

/** The title of each test begins with the ids of its rows: `[4.1-7][F1] …`. */
const titles = readdirSync(folder)
  .filter((name) => name.endsWith('.test.ts'))
  .flatMap((file) => {
    const calls = readFileSync(new URL(file, folder), 'utf8').matchAll(
      /(?:^|\s)(?:test|it)(\.\w+)?(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?\(\s*(.*)/gm,
    )
    return [...calls].map(([, variant = '', rest = '']) => ({ file, variant, rest }))
  })

const covered = titles.flatMap(({ file, rest }) => {
  const ids = /^['"`]((?:\[[^\]]+\])+) /.exec(rest)?.[1] ?? ''
  return [...ids.matchAll(/\[([^\]]+)\]/g)].map(([, id = '']) => ({ id, file }))
})

const filesOf = (id: string) => [...new Set(covered.filter((s) => s.id === id).map((s) => s.file))].toSorted()

const countTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)

function numbersIn(prefix: string): number[] {
  const numbers = rows.filter(({ id }) => id.startsWith(prefix)).map(({ id }) => id.slice(prefix.length))
  return numbers.filter((number) => /^\d+$/.test(number)).map(Number)
}

test('rows and tests are found', () => {
  expect(rows.length).toBeGreaterThan(100)
  expect(titles.length).toBeGreaterThan(100)
})

test('every test title begins with row ids, and no test is skipped unconditionally', () => {
  expect(titles.filter(({ rest }) => !/^['"`](?:\[[^\]]+\])+ /.test(rest))).toEqual([])
  expect(titles.filter(({ variant }) => !['', '.skipIf'].includes(variant))).toEqual([])
})

test('every row id is unique', () => {
  const ids = rows.map(({ id }) => id)
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
})

test('row numbers have no gaps', () => {
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

test('every row has a test, and names the files of its tests', () => {
  const tested = rows.filter(({ testFiles }) => testFiles !== withoutTest)
  const wrong = tested.filter(({ id, testFiles }) => filesOf(id).join(', ') !== testFiles || testFiles === '')
  const messages = wrong.map(
    ({ id, testFiles }) => `${id}: COVERAGE.md says "${testFiles}", tests are in "${filesOf(id).join(', ')}"`,
  )
  expect(messages).toEqual([])
})

test('every test has a row', () => {
  const known = new Set(rows.map(({ id }) => id))
  expect(covered.filter(({ id }) => !known.has(id))).toEqual([])
})

test('only allowed rows are without a test, and have none', () => {
  const untested = rows.filter(({ testFiles }) => testFiles === withoutTest).map(({ id }) => id)
  expect(untested.filter((id) => !allowedWithoutTest.includes(id))).toEqual([])
  expect(untested.filter((id) => filesOf(id).length > 0)).toEqual([])
})
