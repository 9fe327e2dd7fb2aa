import { describe, expect, it } from 'vitest'
import { Failure } from './errors.ts'
import { excerpt, Faults } from './faults.ts'

function failureOf(faults: Faults): Failure {
  try {
    faults.throwIfAny()
  } catch (error) {
    if (error instanceof Failure) return error
  }
  throw new Error('nothing was thrown')
}

const fault = (message: string, suggestion?: string) => ({
  code: 'parameter_unknown' as const,
  message,
  ...(suggestion === undefined ? {} : { suggestion }),
})

describe('Faults', () => {
  it('throws only if it has a fault', () => {
    expect(() => new Faults().throwIfAny()).not.toThrow()
  })

  it('lists 50 and counts the rest without describing them', () => {
    const faults = new Faults()
    let described = 0
    for (let n = 0; n < 130_000; n++) {
      faults.add(() => {
        described++
        return fault(`number ${n}`)
      })
    }
    expect([faults.count, faults.listed.length, described]).toEqual([130_000, 50, 50])
    expect(failureOf(faults).message).toBe('number 0 (and 129999 more, errors has the first 50)')
  })

  it('refers to errors if all faults are listed', () => {
    const faults = new Faults()
    faults.add(() => fault('one'))
    faults.add(() => fault('two'))
    expect(failureOf(faults).message).toBe('one (and 1 more, see errors)')
  })

  it('stays below 64 KB with long faults and suggestions', () => {
    const faults = new Faults()
    // JSON escapes each of these characters with six bytes.
    for (let n = 0; n < 60; n++) faults.add(() => fault('\u0001'.repeat(300), '\u0001'.repeat(1_000)))
    expect(Buffer.byteLength(JSON.stringify(faults.listed))).toBeLessThan(60 * 1024)
    expect(faults.listed.length).toBeGreaterThan(10)
    expect(faults.listed[0]).toHaveProperty('suggestion')
    expect(faults.listed.at(-1)).not.toHaveProperty('suggestion')
  })
})

describe('excerpt', () => {
  it('returns a short text unchanged and truncates a long one between two characters', () => {
    expect(excerpt('x'.repeat(60))).toBe('x'.repeat(60))
    expect(excerpt('x'.repeat(61))).toBe(`${'x'.repeat(60)}…`)
    expect(excerpt(`${'x'.repeat(59)}😀😀`)).toBe(`${'x'.repeat(59)}…`)
  })
})
