import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parse } from '../../filter/src/index.ts'
import { wireFile, wireText } from './generate-wire.ts'

/** What the Python client shares with the service: types of records, and the filter language. */

it('the types are those of the OpenAPI document', () => {
  expect(readFileSync(wireFile, 'utf8'), 'run node clients/python/generate-wire.ts').toBe(wireText())
})

const program = `
import json, random, sys
from quartermaster import field
chance = random.Random(20261119)
characters = [chr(one) for one in range(1, 128)] + list('äß漢🔩"\\\\,]|&()*!=<>[')
def text():
    return "".join(chance.choice(characters) for _ in range(chance.randrange(12)))
for _ in range(2000):
    value, others = text(), [text() for _ in range(1 + chance.randrange(3))]
    one = (field.name == value) & (field.name.is_in(others) | field.name.not_contains(value))
    print(json.dumps([str(one), value, others]))
`

it('a filter of any texts is parsed as these texts', () => {
  const output = execFileSync('python3', ['-c', program], {
    encoding: 'utf8',
    env: {
      ...process.env,
      PYTHONPATH: fileURLToPath(new URL('src', import.meta.url)),
      PYTHONDONTWRITEBYTECODE: '1',
    },
  })
  const cases: [string, string, string[]][] = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(cases).toHaveLength(2_000)
  // One comparison: each `expect` costs milliseconds.
  expect(cases.map(([text]) => shapeOf(parse(text)))).toEqual(
    cases.map(([, value, others]) => ['and', ['=', value], ['or', ['[]', ...others], ['!*', value]]]),
  )
})

function shapeOf(filter: ReturnType<typeof parse>): unknown[] {
  if (filter.kind !== 'condition') return [filter.kind, ...filter.terms.map(shapeOf)]
  return [filter.operator, ...filter.values.map((one) => (one.kind === 'null' ? null : one.text))]
}
