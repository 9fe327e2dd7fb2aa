import { expect, it } from 'vitest'
import { limits } from '../limits.ts'
import { PreparedNames } from './prepared.ts'

it('names a text when it comes again, and the same way from then on', () => {
  const names = new PreparedNames()
  expect([1, 2, 3, 4].map(() => names.nameOf('a'))).toEqual([undefined, undefined, 'q1', 'q1'])
  expect([1, 2, 3].map(() => names.nameOf('b'))).toEqual([undefined, undefined, 'q2'])
})

it('has an end of names', () => {
  const names = new PreparedNames()
  const ask = (text: string) => [1, 2, 3].map(() => names.nameOf(text)).at(-1)
  for (let i = 0; i < limits.preparedMax; i++) expect(ask(`text ${i}`)).toBe(`q${i + 1}`)
  expect(ask('one more')).toBeUndefined()
  expect(ask('text 0')).toBe('q1')
})
