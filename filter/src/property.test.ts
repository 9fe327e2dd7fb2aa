import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Condition, type Filter, operators, type Value } from './ast.ts'
import { FilterError } from './error.ts'
import { parse } from './parse.ts'
import { print } from './print.ts'

const noPosition = { offset: 0, length: 0 }

const awkward = fc.string({ unit: fc.constantFrom(...Array.from('anul0 \t\r\n"\\=!*<>[](),&|_%é🔩\u00a0')) })
const text = fc.oneof(
  awkward,
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', 'null', '\\', '"', ' ', '\ud800'),
)

const value: fc.Arbitrary<Value> = fc.oneof(
  { weight: 8, arbitrary: text.map((chars): Value => ({ kind: 'text', text: chars, ...noPosition })) },
  { weight: 1, arbitrary: fc.constant<Value>({ kind: 'null', ...noPosition }) },
)

const condition: fc.Arbitrary<Condition> = fc
  .record({
    field: fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/),
    operator: fc.constantFrom(...operators),
    values: fc.array(value, { minLength: 1, maxLength: 4 }),
  })
  .map(({ field, operator, values }) => ({
    kind: 'condition',
    field: { text: field, ...noPosition },
    operator,
    values: operator.endsWith(']') ? values : values.slice(0, 1),
    operatorSpan: noPosition,
    ...noPosition,
  }))

const { tree } = fc.letrec<{ tree: Filter }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    condition,
    fc
      .record({
        kind: fc.constantFrom('and', 'or'),
        terms: fc.array(tie('tree'), { minLength: 2, maxLength: 3 }),
      })
      .map((node): Filter => ({ ...node, ...noPosition })),
  ),
}))

function withoutSpans(filter: Filter): Filter {
  if (filter.kind !== 'condition')
    return { kind: filter.kind, terms: filter.terms.map(withoutSpans), ...noPosition }
  const { kind, field, operator, values } = filter
  return {
    kind,
    field: { text: field.text, ...noPosition },
    operator,
    values: values.map((each) => ({ ...each, ...noPosition })),
    operatorSpan: noPosition,
    ...noPosition,
  }
}

function assertWellFormedError(input: string): void {
  try {
    parse(input)
  } catch (error) {
    if (!(error instanceof FilterError)) throw error
    const { offset, length, expected, suggestion } = error.problem
    expect(offset).toBeGreaterThanOrEqual(0)
    expect(length).toBeGreaterThanOrEqual(0)
    expect(offset + length).toBeLessThanOrEqual(input.length)
    expect(expected.length).toBeGreaterThan(0)
    if (suggestion !== undefined) expect(() => parse(suggestion)).not.toThrow()
  }
}

it('parses every printed tree to the same tree', () => {
  fc.assert(
    fc.property(tree, (filter) => {
      expect(withoutSpans(parse(print(filter)))).toEqual(filter)
    }),
    { numRuns: 4000 },
  )
})

it('prints every parsed canonical text unchanged', () => {
  fc.assert(
    fc.property(tree, (filter) => {
      expect(print(parse(print(filter)))).toBe(print(filter))
    }),
  )
})

it('reports a position within the text, and suggests only valid filters', () => {
  fc.assert(fc.property(text, assertWellFormedError), { numRuns: 5000 })
})

it('does so for filters with characters removed, inserted or replaced', () => {
  const mutated = fc
    .tuple(tree.map(print), fc.nat(), fc.nat(6), fc.oneof(awkward, fc.constant('')))
    .map(([printed, position, removed, added]) => {
      const at = position % (printed.length + 1)
      return printed.slice(0, at) + added + printed.slice(at + removed)
    })
  fc.assert(fc.property(mutated, assertWellFormedError), { numRuns: 5000 })
})

it('does so for any sequence of the symbols of the language', () => {
  const symbol = fc.constantFrom(
    'a',
    '=',
    '[',
    '![',
    ']',
    '(',
    ')',
    '&',
    '|',
    ',',
    '"',
    '\\',
    ' ',
    '1',
    ' and ',
  )
  fc.assert(
    fc.property(fc.array(symbol, { maxLength: 24 }), (parts) => assertWellFormedError(parts.join(''))),
    {
      numRuns: 10_000,
    },
  )
})
