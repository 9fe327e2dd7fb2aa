import { expect, it } from 'vitest'
import { limits } from '../limits.ts'
import { PreparedNames } from './statement-cache.ts'

const ask = (names: PreparedNames, text: string, times: number) =>
  Array.from({ length: times }, () => names.nameOf(text)).at(-1)

function full(uses: number): PreparedNames {
  const names = new PreparedNames()
  for (let i = 1; i <= limits.preparedStatementsMax; i++) expect(ask(names, `text ${i}`, uses)).toBe(`q${i}`)
  return names
}

it('names a text when it comes again, and the same way from then on', () => {
  const names = new PreparedNames()
  expect([1, 2, 3, 4].map(() => names.nameOf('a'))).toEqual([undefined, undefined, 'q1', 'q1'])
  expect([1, 2, 3].map(() => names.nameOf('b'))).toEqual([undefined, undefined, 'q2'])
})

it('gives so many names; the least used makes room for what comes more than twice as often', () => {
  const names = full(10)
  ask(names, 'text 1', 5)
  expect(ask(names, 'other', 20)).toBeUndefined()
  expect(names.nameOf('other')).toBe(`q${limits.preparedStatementsMax + 1}`)
  expect(names.nameOf('text 1')).toBe('q1')
  // The one that made room is counted on, and comes back under another name when it is asked for as often.
  expect(ask(names, 'text 2', 10)).toBeUndefined()
  expect(names.nameOf('text 2')).toBe(`q${limits.preparedStatementsMax + 2}`)
})

it('texts that come equally often do not take turns', () => {
  const names = full(3)
  const texts = Array.from({ length: 2 * limits.preparedStatementsMax }, (_, i) => `text ${i + 1}`)
  for (let round = 0; round < 200; round++) for (const text of texts) names.nameOf(text)
  const kept = texts.slice(0, limits.preparedStatementsMax).map((text) => names.nameOf(text))
  expect(kept).toEqual(kept.map((_, i) => `q${i + 1}`))
})

it('what was asked for often, and no longer is, makes room', () => {
  const names = full(limits.preparedDecayStatements / limits.preparedStatementsMax)
  const text = 'asked for from now on'
  const asked = Array.from({ length: limits.preparedDecayStatements * 3 }, () => names.nameOf(text))
  expect(asked.findIndex((name) => name !== undefined)).toBeLessThan(limits.preparedDecayStatements / 10)
})
