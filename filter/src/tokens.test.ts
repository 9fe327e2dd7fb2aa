import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tokens } from './tokens.ts'

function kinds(text: string): string[] {
  return tokens(text).map(({ kind, offset, length }) => `${kind} ${text.slice(offset, offset + length)}`)
}

describe('tokens', () => {
  it('names every part of a filter', () => {
    expect(kinds('(a = "x y" | b![1, null])&c>=2')).toEqual([
      'open (',
      'field a',
      'operator =',
      'value "x y"',
      'or |',
      'field b',
      'operator ![',
      'value 1',
      'comma ,',
      'value null',
      'list-close ]',
      'close )',
      'and &',
      'field c',
      'operator >=',
      'value 2',
    ])
  })

  it('continues after an unexpected token', () => {
    expect(kinds('name ~ 5 & "q" b[1')).toEqual([
      'field name',
      'stray ~',
      'stray 5',
      'and &',
      'stray "q"',
      'field b',
      'operator [',
      'value 1',
    ])
  })

  it('returns the text of a malformed value', () => {
    expect(tokens('a="x\\"y')).toContainEqual({
      kind: 'value',
      text: 'x"y',
      offset: 2,
      length: 5,
      flaw: { kind: 'quote', offset: 2, length: 5 },
    })
  })

  it('covers any text in order, leaving out white space only', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('ab1 \t"\\=!*<>[](),&|é🔩')) }), (text) => {
        let at = 0
        for (const { offset, length } of tokens(text)) {
          expect(text.slice(at, offset).trim()).toBe('')
          expect(length).toBeGreaterThan(0)
          at = offset + length
        }
        expect(text.slice(at).trim()).toBe('')
      }),
      { numRuns: 2000 },
    )
  })

  it('runs in time linear in the length', () => {
    // All need about 0.2 s together; quadratic time would be minutes.
    const start = process.cpuUsage()
    for (const part of ['(', ')', '"', '\\', 'a=(', 'a[', ',', ' ', 'a="\\"', '&', '~'])
      tokens(part.repeat(200_000 / part.length))
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(5)
  })
})
