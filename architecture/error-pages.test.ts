import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { errorCodes } from '../server/src/errors/errors.ts'
import { errorIndex, errorPages } from '../server/src/http/reference/error-pages.ts'
import { deliveryOutcomes } from '../server/src/observability/events.ts'

/** A person can look up every code that a response, the client, the console or the list of deliveries shows. */

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')

const matchesIn = (text: string, pattern: RegExp) =>
  Array.from(text.matchAll(pattern), ([, code = '']) => code)

/** Codes in sources: `code: 'timed_out'`, and both of `code: status === 504 ? 'one' : 'other'`. */
function codesUnder(folder: string): string[] {
  const files = readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$|wire\.ts$|icon\.tsx$/.test(file))
    .flatMap((file) => {
      const lines = matchesIn(read(`${folder}/${file}`), /\bcode(?::|\)) (.*)$/gm)
      return lines.flatMap((line) => matchesIn(line, /'([a-z]+(?:_[a-z]+)+)'/g))
    })
}

const shown = {
  'an error': errorCodes,
  'a fault of a request': matchesIn(read('server/src/errors/errors.ts'), /^ {2}\| '(\w+)'$/gm),
  'a fault of a filter': matchesIn(read('filter/src/error.ts'), /^ {2}\| '(\w+)'$/gm),
  'a delivery': [...deliveryOutcomes.filter((outcome) => outcome !== 'delivered'), 'challenge'],
  'the client': codesUnder('client/src'),
  'the console': codesUnder('console/src'),
}

it.each(Object.entries(shown))(
  '%s has codes, each with a page and an entry in the index',
  async (_, codes) => {
    expect(codes.length).toBeGreaterThan(1)
    const pages = await errorPages()
    expect(codes.filter((code) => !pages.has(code))).toEqual([])
    const index = (await errorIndex()).body.toString()
    expect(codes.filter((code) => !index.includes(`"/reference/errors/${code}"`))).toEqual([])
  },
)

it('finds the codes of the client and the console', () => {
  expect(shown['the client']).toEqual(
    expect.arrayContaining([
      'timed_out',
      'proxy_timeout',
      'proxy_unavailable',
      'tls_failed',
      'stream_truncated',
    ]),
  )
  expect(shown['the console']).toEqual(expect.arrayContaining(['no_response', 'parameter_unknown']))
})
