import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/** Everything that differs on Citus is in `server/src/citus`, behind the interface `Layout`. No other file asks which layout it is. */

const source = fileURLToPath(new URL('../server/src/', import.meta.url))
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('citus/'))
  .map((file) => [file, readFileSync(join(source, file), 'utf8')] as const)

/** The files outside the seam that know the word, and why. */
const knowing = [
  // The command that distributes the tables.
  'cli/database/distribute-command.ts',
  // Recognises a cluster, and loads the code for it.
  'postgres/load-layout.ts',
]

it('only these files outside the seam mention Citus, a topology or distributed tables', () => {
  const found = files.filter(([, text]) => /citus|topology|distributed/i.test(text)).map(([file]) => file)
  expect(found.toSorted()).toEqual(knowing)
})

describe('an operation that differs is only called in its form for the layout', () => {
  const table = readFileSync(join(source, 'citus/forms.ts'), 'utf8')
  const plain = [...table.matchAll(/^ {2}form\((\w+), \w+\),$/gm)].map(([, name = '']) => name)

  it('the table of forms is read', () => {
    expect(plain).toContain('lockTally')
    expect(plain.length).toBeGreaterThan(10)
  })

  it.each(plain)('%s', (name) => {
    const called = files.filter(([, text]) => callsIn(text).has(name)).map(([file]) => file)
    expect(called).toEqual([])
  })

  it('a call and a use of its members are found, its declaration and its form are not', () => {
    const text = 'function own() {}\nform(passed)(1)\nthis.method()\ncalled(1)\nused.member(2)'
    expect([...callsIn(text)]).toEqual(['form', 'this', 'called', 'used'])
  })
})

/** The names that are called, or whose members are used. */
function callsIn(text: string): Set<string> {
  const found = text.matchAll(/(function\*? |[.#])?\b(\w+)(?=[(.])/g)
  return new Set([...found].flatMap(([, before, name = '']) => (before === undefined ? [name] : [])))
}
