import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { suites } from '../verification/src/suites.ts'

/** verification/README.md has a row for each check: what it claims, and which test is beside it. */

const root = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(root, 'verification/README.md'), 'utf8')

interface Row {
  readonly claim: string
  readonly name: string
  readonly file: string
  readonly test: string | undefined
}

/** The rows of the table below each heading. */
const tables = new Map(
  [...readme.matchAll(/^### (\w+)\n([^#]*)/gm)].map(([, suite = '', text = '']) => [
    suite,
    [...text.matchAll(/^\| (.+) \| `(\w+)` \| `([\w/.-]+)` \| (?:`([\w/.-]+)`|—) \|$/gm)].map(
      ([, claim = '', name = '', file = '', test]): Row => ({ claim, name, file, test }),
    ),
  ]),
)
const rows = [...tables.values()].flat()

it.each(Object.entries(suites))('the table of %s has its checks, in their order', (suite, checks) => {
  expect(tables.get(suite)?.map(({ name }) => name)).toEqual(checks.map(({ name }) => name))
})

describe('a claim', () => {
  it('is proved once', () => {
    expect([...tables.keys()].toSorted()).toEqual(Object.keys(suites).toSorted())
    for (const key of ['name', 'claim'] as const) {
      const all = rows.map((row) => row[key])
      expect(all.filter((one, at) => all.indexOf(one) !== at)).toEqual([])
    }
  })

  it('names files that exist', () => {
    const named = rows.flatMap(({ file, test }) => [
      `verification/src/${file}`,
      ...(test === undefined ? [] : [test]),
    ])
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([])
  })
})
