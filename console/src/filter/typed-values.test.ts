import { operators } from '@quartermaster/filter'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Field } from '../api/catalog.ts'
import type { Chip } from './model.ts'
import { choicesOf, isList } from './operators.ts'
import { typedOf, valuesOf } from './typed-values.ts'

const text: Field = { name: 'default_code', type: 'text', nullable: true, description: '' }
const integer: Field = { ...text, name: 'categ_id', type: 'integer' }

/** What the editor does with a chip that is opened and applied unchanged. */
function reapplied(chip: Chip, field: Field) {
  const isNull = !isList(chip.operator) && chip.values[0] === null
  const choice = choicesOf(field).find((one) => one.operator === chip.operator && one.isNull === isNull)
  return choice === undefined ? undefined : valuesOf(choice, typedOf(chip), field)
}

it('a chip that is opened and applied unchanged has the same values', () => {
  const value = fc.oneof(fc.constant(null), fc.constantFrom('null', '"null"', '"', ' x ', ''), fc.string())
  fc.assert(
    fc.property(
      fc.constantFrom(...operators),
      fc.array(value, { minLength: 1, maxLength: 4 }),
      (operator, all) => {
        const values = isList(operator) ? all : all.slice(0, 1)
        const found = reapplied({ kind: 'chip', field: text.name, operator, values }, text)
        // `*` and its like have no null, and other types have other operators.
        if (found !== undefined) expect(found).toEqual(values)
      },
    ),
    { numRuns: 2_000 },
  )
})

it('null is the null value of a number, and a word in a text', () => {
  expect(reapplied({ kind: 'chip', field: text.name, operator: '=', values: ['null'] }, text)).toEqual([
    'null',
  ])
  expect(reapplied({ kind: 'chip', field: integer.name, operator: '=', values: [null] }, integer)).toEqual([
    null,
  ])
  expect(reapplied({ kind: 'chip', field: text.name, operator: '[]', values: ['null', null] }, text)).toEqual(
    ['null', null],
  )
})
