import { expect, it } from 'vitest'
import { limits } from '../limits/limits.ts'
import { StatementCache } from './statement-cache.ts'

/** Uses the text several times and returns its last name. */
const use = (cache: StatementCache, text: string, times: number) =>
  Array.from({ length: times }, () => cache.nameOf(text)).at(-1)

function fullCache(uses: number): StatementCache {
  const cache = new StatementCache()
  for (let i = 1; i <= limits.preparedStatementsMax; i++) expect(use(cache, `text ${i}`, uses)).toBe(`q${i}`)
  return cache
}

it('names a text at its third use, and does not change the name', () => {
  const cache = new StatementCache()
  expect([1, 2, 3, 4].map(() => cache.nameOf('a'))).toEqual([undefined, undefined, 'q1', 'q1'])
  expect([1, 2, 3].map(() => cache.nameOf('b'))).toEqual([undefined, undefined, 'q2'])
})

it('when full, replaces the least used text by one that is used more than twice as often', () => {
  const cache = fullCache(10)
  use(cache, 'text 1', 5)
  expect(use(cache, 'other', 20)).toBeUndefined()
  expect(cache.nameOf('other')).toBe(`q${limits.preparedStatementsMax + 1}`)
  expect(cache.nameOf('text 1')).toBe('q1')
  // The uses of the replaced text are still counted. It gets a new name when it is used often enough.
  expect(use(cache, 'text 2', 10)).toBeUndefined()
  expect(cache.nameOf('text 2')).toBe(`q${limits.preparedStatementsMax + 2}`)
})

it('texts that are used equally often do not replace each other', () => {
  const cache = fullCache(3)
  const texts = Array.from({ length: 2 * limits.preparedStatementsMax }, (_, i) => `text ${i + 1}`)
  for (let round = 0; round < 200; round++) for (const text of texts) cache.nameOf(text)
  const names = texts.slice(0, limits.preparedStatementsMax).map((text) => cache.nameOf(text))
  expect(names).toEqual(names.map((_, i) => `q${i + 1}`))
})

it('replaces a text that is no longer used', () => {
  const cache = fullCache(limits.preparedDecayStatements / limits.preparedStatementsMax)
  const names = Array.from({ length: limits.preparedDecayStatements * 3 }, () => cache.nameOf('new text'))
  expect(names.findIndex((name) => name !== undefined)).toBeLessThan(limits.preparedDecayStatements / 10)
})
