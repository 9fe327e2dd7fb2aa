import { type Filter, type Operator, operators, parse, print } from '@quartermaster/filter'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Chip, type Chips, chipsOf, replaced, textOf, toggledJoin, withChip, without } from './model.ts'

const chip = (text: string): Chip => {
  const chips = chipsOf(parse(text))
  if (chips.kind === 'group') throw new Error(`${text} is a group`)
  return chips
}

/** Compares meaning, not positions. */
function meaning(filter: Filter): unknown {
  if (filter.kind !== 'condition') return [filter.kind, filter.terms.map(meaning)]
  const values = filter.values.map((value) => (value.kind === 'null' ? null : { text: value.text }))
  return [filter.field.text, filter.operator, values]
}

const value = fc.oneof(fc.constant(null), fc.string({ unit: 'binary', maxLength: 12 }), fc.constant('null'))
const condition: fc.Arbitrary<Chips> = fc
  .record({
    field: fc.constantFrom('id', 'name', 'list_price', '_x9'),
    operator: fc.constantFrom<Operator>(...operators),
    values: fc.array(value, { minLength: 1, maxLength: 4 }),
  })
  .map(({ field, operator, values }) => ({
    kind: 'chip',
    field,
    operator,
    values: operator.endsWith(']') ? values : values.slice(0, 1),
  }))
const chips = fc.letrec<{ tree: Chips }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    condition,
    fc.record({
      kind: fc.constant('group' as const),
      join: fc.constantFrom('and' as const, 'or' as const),
      items: fc.array(tie('tree'), { minLength: 2, maxLength: 4 }),
    }),
  ),
})).tree

describe('text and chips', () => {
  it('text → chips → text is the same filter', () => {
    fc.assert(
      fc.property(chips, (tree) => {
        const text = textOf(tree)
        const filter = parse(text)
        const back = textOf(chipsOf(filter))
        expect(back).toBe(print(filter))
        expect(meaning(parse(back))).toEqual(meaning(filter))
        expect(chipsOf(filter)).toEqual(tree)
      }),
      { numRuns: 500 },
    )
  })

  it('keeps groups, null and quoted texts', () => {
    const text = 'active=true&(categ_id[3,null]|name="null"|(id=1&id=2))'
    expect(textOf(chipsOf(parse(text)))).toBe('active=true&(categ_id[3,null]|name="null"|id=1&id=2)')
  })
})

describe('editing chips', () => {
  it('adds a condition that applies in addition', () => {
    expect(textOf(withChip(undefined, chip('id=1')))).toBe('id=1')
    expect(textOf(withChip(chipsOf(parse('id=1|id=2')), chip('active=true')))).toBe('(id=1|id=2)&active=true')
    expect(textOf(withChip(chipsOf(parse('id=1&id=2')), chip('active=true')))).toBe('id=1&id=2&active=true')
  })

  it('replaces a condition within a group', () => {
    const tree = chipsOf(parse('id=1&(name*a|name*b)'))
    expect(textOf(replaced(tree, [1, 0], chip('name*c')))).toBe('id=1&(name*c|name*b)')
  })

  it('removes a condition, and the group that has one item left', () => {
    const tree = chipsOf(parse('id=1&(name*a|name*b)'))
    const left = without(tree, [1, 1])
    expect(left && textOf(left)).toBe('id=1&name*a')
    expect(without(chip('id=1'), [])).toBeUndefined()
  })

  it('toggles the join of a group', () => {
    expect(textOf(toggledJoin(chipsOf(parse('id=1&(name*a|name*b)')), [1]))).toBe('id=1&(name*a&name*b)')
  })
})
