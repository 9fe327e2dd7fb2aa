import { fileURLToPath } from 'node:url'
import { checkSync } from 'recheck'
import { describe, expect, it } from 'vitest'
import { type Expression, expressionsOf, expressionsUnder } from './regular-expressions.ts'

/**
 * Every regular expression of the sources runs in linear time. JavaScript's engine backtracks: `\s*;?\s*$` on 30,000
 * spaces blocks the event loop for a second.
 * https://makenowjust-labs.github.io/recheck/
 */

// The JavaScript backend: the same on every machine, without native code.
process.env['RECHECK_BACKEND'] = 'pure'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The same result in every run: fixed random numbers, and no limit of time except one that ends a check that hangs. */
const parameters = {
  timeout: 280_000,
  randomSeed: 1,
  seedingTimeout: null,
  incubationTimeout: null,
  attackTimeout: null,
}

/** Why an expression is rejected; empty for one with linear time. */
function faultOf({ at, source, flags }: Expression): string[] {
  const found = checkSync(source, flags, parameters)
  if (found.status === 'safe') return []
  return [
    `${at} /${source}/${flags}: ${found.status === 'vulnerable' ? found.complexity.summary : found.status}`,
  ]
}

/** A limit as a template literal contains it. */
const limit = ['$', '{limits.requestIdCharactersMax}'].join('')

function faultsIn(text: string): string[] {
  const { expressions, unknown } = expressionsOf('sample.ts', text)
  return [...unknown, ...expressions.flatMap(faultOf)]
}

describe('regular expressions', () => {
  for (const folder of ['filter/src', 'server/src', 'client/src', 'console/src']) {
    it(`in ${folder} run in linear time`, () => {
      const { expressions, unknown } = expressionsUnder(root, folder)
      expect(expressions.length).toBeGreaterThan(0)
      expect(unknown).toEqual([])
      expect(expressions.flatMap(faultOf)).toEqual([])
    })
  }

  it('that backtrack over white space are detected', () => {
    expect(
      faultsIn(String.raw`const gzip = /^\s*(?:gzip|\*)\s*(?:;\s*q=(?:1(?:\.0*)?|0?\.0*[1-9]\d*))?\s*$/`),
    ).toEqual([expect.stringContaining('sample.ts:1 /^\\s*(?:gzip|\\*)')])
    expect(
      faultsIn(String.raw`export const zone = (t: string) => t.replace(/^(.*T.*) (\d{2}:?\d{2})$/i, '$1')`),
    ).toEqual([expect.stringContaining('2nd degree polynomial')])
    expect(faultsIn('\n\nconst end = /(a|a)*$/')).toEqual([
      expect.stringMatching(/^sample\.ts:3 .*exponential/),
    ])
  })

  it('are detected wherever they are created', () => {
    expect(faultsIn('const end = new RegExp("x*x*$")')).toHaveLength(1)
    expect(faultsIn(`const end = RegExp(\`^a{0,${limit}}(?:b*b*)*$\`, "i")`)).toHaveLength(1)
    expect(faultsIn('const end = (s: string) => s.search("x*x*$")')).toHaveLength(1)
    // Their patterns are known only at run time.
    expect(faultsIn('const any = (source: string) => new RegExp(source)')).toEqual(['sample.ts:1'])
    expect(faultsIn('const any = (s: string, t: string) => s.match(t)')).toEqual(['sample.ts:1'])
  })

  it('that run in linear time pass', () => {
    expect(
      faultsIn(String.raw`const id = /^[1-9]\d{0,15}$/; const port = 'x:1'.replace(/:\d+$/, '')`),
    ).toEqual([])
    expect(faultsIn(`const id = new RegExp(\`^[a-z]{1,${limit}}$\`)`)).toEqual([])
  })
})
