import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Field } from '../catalog/field.ts'
import { resources } from '../catalog/resources.ts'
import { complementOf } from './complement.ts'
import { parseListRequest } from './list-request.ts'
import { planList } from './plan.ts'
import type { Bound, PlainValue, Predicate } from './predicate.ts'

type Record = Readonly<{ [name: string]: PlainValue | number | null }>

/** What the SQL of the predicate is `true` for. Numbers and dates compare as numbers here. */
function matches(predicate: Predicate, record: Record): boolean {
  if (predicate.kind === 'all') return predicate.terms.every((term) => matches(term, record))
  if (predicate.kind === 'any') return predicate.terms.some((term) => matches(term, record))
  const stored = record[predicate.field.name] ?? null
  if (predicate.kind === 'not-null') return stored !== null
  if (stored === null) return predicate.orNull
  switch (predicate.kind) {
    case 'one-of':
      return predicate.values.some((one) => String(one) === String(stored))
    case 'none-of':
      return !predicate.values.some((one) => String(one) === String(stored))
    case 'contains':
      return String(stored).toLowerCase().includes(predicate.text.toLowerCase()) !== predicate.negated
    case 'ranges':
      return predicate.ranges.some(
        ({ from, to }) =>
          (from === undefined || compare(predicate.field, stored, from) > (from.inclusive ? -1 : 0)) &&
          (to === undefined || compare(predicate.field, stored, to) < (to.inclusive ? 1 : 0)),
      )
    default:
      return predicate satisfies never
  }
}

function compare({ type }: Field, stored: PlainValue | number, { value }: Bound): number {
  if (type === 'text') return Buffer.compare(Buffer.from(String(stored)), Buffer.from(String(value)))
  const number = (of: PlainValue | number) => (type === 'timestamp' ? Date.parse(String(of)) : Number(of))
  return Math.sign(number(stored) - number(value))
}

const words = ['', 'a', 'b', 'Bolt', 'nut', 'x']
const word = fc.constantFrom('a', 'b', 'Bolt', 'x')
const integer = fc.integer({ min: -2, max: 3 })
const day = fc.constantFrom('2026-01-01', '2026-01-02T10:00:00Z', '2026-02-01')
const condition = fc.oneof(
  fc.tuple(fc.constantFrom('=', '!=', '*', '!*'), word).map(([operator, text]) => `email${operator}${text}`),
  fc
    .tuple(
      fc.constantFrom('[', '!['),
      fc.array(fc.oneof(word, fc.constant('null')), { minLength: 1, maxLength: 20 }),
    )
    .map(([open, values]) => `phone${open}${values.join(',')}]`),
  fc
    .tuple(fc.constantFrom('=', '!=', '>', '>=', '<', '<='), integer)
    .map(([operator, one]) => `id${operator}${one}`),
  fc
    .tuple(fc.constantFrom('[', '!['), fc.array(integer, { minLength: 1, maxLength: 20 }))
    .map(([open, values]) => `id${open}${values.join(',')}]`),
  fc
    .tuple(fc.constantFrom('=', '!='), fc.constantFrom('true', 'false'))
    .map(([operator, one]) => `is_customer${operator}${one}`),
  fc
    .tuple(fc.constantFrom('=', '!=', '>', '>=', '<', '<='), day)
    .map(([operator, one]) => `create_date${operator}${one}`),
  fc.constantFrom('email=null', 'email!=null', 'phone=null', 'name*B', 'name!=a'),
)
const filter = fc
  .array(fc.tuple(condition, fc.constantFrom('&', '|')), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.map(([one, glue], i) => (i === 0 ? one : `${glue}${one}`)).join(''))
const record = fc.record({
  id: integer,
  name: fc.constantFrom(...words),
  email: fc.constantFrom(null, ...words),
  phone: fc.constantFrom(null, ...words),
  is_customer: fc.boolean(),
  create_date: fc.constantFrom(
    '2026-01-01T00:00:00Z',
    '2026-01-02T10:00:00Z',
    '2026-01-02T10:00:00.001Z',
    '2026-03-01T00:00:00Z',
  ),
})

describe('complementOf', () => {
  it('matches exactly the records that the predicate does not match, with null', () => {
    const seen = new Set<boolean>()
    fc.assert(
      fc.property(filter, record, (text, one) => {
        const request = parseListRequest(`filter=${encodeURIComponent(text)}`, 'url')
        const { where } = planList(resources.partner, request)
        if (where === undefined) throw new Error('no filter')
        const is = matches(where, one)
        seen.add(is)
        expect(matches(complementOf(where), one), text).toBe(!is)
        expect(matches(complementOf(complementOf(where)), one), text).toBe(is)
      }),
      { numRuns: 3_000 },
    )
    expect(seen.size).toBe(2)
  })

  it('turns the gaps of excluded values into the values, which an index finds', () => {
    const plan = planList(resources.product, parseListRequest('filter=categ_id![3,1,2]', 'url'))
    expect(plan.where && complementOf(plan.where)).toMatchObject({ kind: 'one-of', values: ['1', '2', '3'] })
  })
})
