import type { Operator } from '@quartermaster/filter'
import { type Field, operatorsOf } from '../api/catalog.ts'
import { t } from '../texts/texts.ts'

/** An operator as a person chooses it. `null` operators are `=null` and `!=null`. */
export interface Choice {
  readonly id: string
  readonly operator: Operator
  readonly isNull: boolean
  readonly label: string
}

export function wordOf(operator: Operator, type: Field['type']): string {
  const timeWords: Partial<Record<Operator, string>> = t.filter.timeOperators
  return (type === 'timestamp' ? timeWords[operator] : undefined) ?? t.filter.operators[operator]
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
    { id: '=null', operator: '=', isNull: true, label: t.filter.isNull },
    { id: '!=null', operator: '!=', isNull: true, label: t.filter.isNotNull },
  ]
}

const textOrder: readonly Operator[] = ['*', '!*', '=', '!=', '[]', '![]']

export function isList(operator: Operator): boolean {
  return operator === '[]' || operator === '![]'
}
