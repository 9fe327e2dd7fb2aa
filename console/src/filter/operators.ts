import type { Operator } from '@quartermaster/filter'
import { type Field, operatorsOf } from '../api/catalog.ts'

/** An operator as a person chooses it. `null` operators are `=null` and `!=null`. */
export interface Choice {
  readonly id: string
  readonly operator: Operator
  readonly isNull: boolean
  readonly label: string
}

const words: Readonly<Record<Operator, string>> = {
  '=': 'is',
  '!=': 'is not',
  '*': 'contains',
  '!*': 'does not contain',
  '>': 'greater than',
  '>=': 'at least',
  '<': 'less than',
  '<=': 'at most',
  '[]': 'is one of',
  '![]': 'is none of',
}

const timeWords: Partial<Readonly<Record<Operator, string>>> = {
  '=': 'on',
  '!=': 'not on',
  '>': 'after',
  '>=': 'on or after',
  '<': 'before',
  '<=': 'on or before',
}

export function wordOf(operator: Operator, type: Field['type']): string {
  return (type === 'timestamp' ? timeWords[operator] : undefined) ?? words[operator]
}

/** The operators of a field's type. For a text, "contains" is first: it is what most people look for. */
export function choicesOf(field: Field): readonly Choice[] {
  const operators = field.type === 'text' ? textOrder : operatorsOf[field.type]
  const choices = operators.map((operator) => ({
    id: operator,
    operator,
    isNull: false,
    label: wordOf(operator, field.type),
  }))
  if (!field.nullable) return choices
  return [
    ...choices,
    { id: '=null', operator: '=', isNull: true, label: 'is null' },
    { id: '!=null', operator: '!=', isNull: true, label: 'is not null' },
  ]
}

const textOrder: readonly Operator[] = ['*', '!*', '=', '!=', '[]', '![]']

export function isList(operator: Operator): boolean {
  return operator === '[]' || operator === '![]'
}
