import { type Operator, type Token, tokens } from '@quartermaster/filter'
import type { CollectionName, Field } from '../api/catalog.ts'
import { descriptionOf } from '../lib/labels.ts'
import { t } from '../texts/texts.ts'
import { choicesOf, isList } from './operators.ts'

export interface Suggestion {
  readonly label: string
  readonly detail: string
  readonly insert: string
}

export interface Completion {
  /** Where the text to replace begins. It ends at the cursor. */
  readonly from: number
  readonly suggestions: readonly Suggestion[]
}

/** What can be typed at the cursor: fields, operators of the field's type, values of a boolean, or a join. */
export function completionAt(
  text: string,
  cursor: number,
  fields: readonly Field[],
  list?: CollectionName,
): Completion | undefined {
  const before = tokens(text.slice(0, cursor))
  const last = before.at(-1)
  const touches = last !== undefined && last.offset + last.length === cursor
  if (last?.kind === 'field' && touches)
    return { from: last.offset, suggestions: fields.map((field) => fieldSuggestion(field, list)) }
  switch (last?.kind) {
    case undefined:
    case 'and':
    case 'or':
    case 'open':
      return { from: cursor, suggestions: fields.map((field) => fieldSuggestion(field, list)) }
    case 'field':
      return operatorsAfter(last.text, cursor, fields)
    case 'operator':
    case 'comma':
      return valuesFor(before, cursor, cursor, fields)
    case 'value':
      return touches ? valuesFor(before, last.offset, cursor, fields) : joins(cursor)
    case 'close':
    case 'list-close':
      return joins(cursor)
    case 'stray':
      return undefined
    default:
      return last satisfies never
  }
}

/** Operators directly after a complete field name: offered when the name is exactly a field. */
export function operatorsAfter(name: string, from: number, fields: readonly Field[]): Completion | undefined {
  const field = fields.find((one) => one.name === name)
  if (field === undefined) return undefined
  const suggestions = choicesOf(field).map(({ operator, isNull, label }) => ({
    label: isNull ? `${operator}null` : operator,
    detail: label,
    insert: isNull ? `${operator}null` : symbolOf(operator),
  }))
  return { from, suggestions }
}

function symbolOf(operator: Operator): string {
  return isList(operator) ? operator.slice(0, -1) : operator
}

function fieldSuggestion(field: Field, list: CollectionName | undefined): Suggestion {
  const { name, type } = field
  return { label: name, detail: `${type} · ${descriptionOf(field, list)}`, insert: name }
}

function valuesFor(
  before: readonly Token[],
  from: number,
  cursor: number,
  fields: readonly Field[],
): Completion | undefined {
  const name = before.findLast(({ kind }) => kind === 'field')
  const field = fields.find((one) => name?.kind === 'field' && one.name === name.text)
  if (field === undefined) return undefined
  const values = field.type === 'boolean' ? ['true', 'false'] : []
  if (field.nullable) values.push('null')
  if (values.length === 0) return cursor > from ? undefined : { from, suggestions: [] }
  return { from, suggestions: values.map((value) => ({ label: value, detail: field.name, insert: value })) }
}

function joins(from: number): Completion {
  return {
    from,
    suggestions: [
      { label: '&', detail: t.filter.and, insert: '&' },
      { label: '|', detail: t.filter.or, insert: '|' },
    ],
  }
}
