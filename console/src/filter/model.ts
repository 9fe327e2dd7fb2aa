import type { Condition, Filter, Operator, Value } from '@quartermaster/filter'
import { print } from '@quartermaster/filter'

/**
 * A filter as chips: the syntax tree without positions, which a person can edit. Every filter has this form, so that
 * text → chips → text never loses a condition.
 *
 *     Chips ─┬─ Group      { join: 'and' | 'or', items: Chips[2..] }
 *            └─ Chip       { field, operator, values: (string | null)[1..] }
 */
export type Chips = Group | Chip

export interface Group {
  readonly kind: 'group'
  readonly join: 'and' | 'or'
  readonly items: readonly Chips[]
}

export interface Chip {
  readonly kind: 'chip'
  readonly field: string
  readonly operator: Operator
  /** Null is the null value; text is as typed, without quotes. */
  readonly values: readonly (string | null)[]
}

/** The position of a chip in the tree: indexes of items from the root. The empty path is the root. */
export type Path = readonly number[]

export function chipsOf(filter: Filter): Chips {
  if (filter.kind !== 'condition') {
    return { kind: 'group', join: filter.kind, items: filter.terms.map(chipsOf) }
  }
  const values = filter.values.map((value) => (value.kind === 'null' ? null : value.text))
  return { kind: 'chip', field: filter.field.text, operator: filter.operator, values }
}

export function textOf(chips: Chips): string {
  return print(filterOf(chips))
}

/** Adds a condition that a record must match in addition to the others. */
export function withChip(chips: Chips | undefined, chip: Chip): Chips {
  if (chips === undefined) return chip
  if (chips.kind === 'group' && chips.join === 'and') return { ...chips, items: [...chips.items, chip] }
  return { kind: 'group', join: 'and', items: [chips, chip] }
}

export function replaced(chips: Chips, path: Path, item: Chips): Chips {
  const [index, ...rest] = path
  if (index === undefined) return item
  if (chips.kind === 'chip') return chips
  return { ...chips, items: chips.items.map((one, i) => (i === index ? replaced(one, rest, item) : one)) }
}

/** Without the item at the path; a group with one item left becomes this item. Undefined if nothing is left. */
export function without(chips: Chips, path: Path): Chips | undefined {
  const [index, ...rest] = path
  if (index === undefined || chips.kind === 'chip') return undefined
  const items = chips.items.flatMap((one, i) => {
    const left = i === index ? without(one, rest) : one
    return left === undefined ? [] : [left]
  })
  return items.length > 1 ? { ...chips, items } : items[0]
}

/** Changes "and" to "or" between the items of a group, or the reverse. */
export function toggledJoin(chips: Chips, path: Path): Chips {
  const [index, ...rest] = path
  if (chips.kind === 'chip') return chips
  if (index === undefined) return { ...chips, join: chips.join === 'and' ? 'or' : 'and' }
  return { ...chips, items: chips.items.map((one, i) => (i === index ? toggledJoin(one, rest) : one)) }
}

const nowhere = { offset: 0, length: 0 }

function filterOf(chips: Chips): Filter {
  if (chips.kind === 'group') return { kind: chips.join, terms: chips.items.map(filterOf), ...nowhere }
  const values = chips.values.map(
    (text): Value => (text === null ? { kind: 'null', ...nowhere } : { kind: 'text', text, ...nowhere }),
  )
  const condition: Condition = {
    kind: 'condition',
    field: { text: chips.field, ...nowhere },
    operator: chips.operator,
    values,
    operatorSpan: nowhere,
    ...nowhere,
  }
  return condition
}
