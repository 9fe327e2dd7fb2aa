import { FilterError, parse, quoted } from '@quartermaster/filter'
import type { Field } from '../api/catalog.ts'
import type { Chip } from './model.ts'
import { type Choice, isList } from './operators.ts'

/** The values of a chip as a person edits them: texts. In a list, `null` is null and `"null"` is the text. */
export function typedOf({ operator, values }: Chip): readonly string[] {
  if (!isList(operator)) return values.map((value) => value ?? 'null')
  return values.map((value) =>
    value === null ? 'null' : value === 'null' || value.startsWith('"') ? quoted(value) : value,
  )
}

/** The values of a chip from what was typed: the inverse of `typedOf`. Empty if there is no value yet. */
export function valuesOf(
  { operator, isNull }: Choice,
  typed: readonly string[],
  field: Field,
): (string | null)[] {
  if (isNull) return [null]
  if (isList(operator)) return typed.map((text) => (text === 'null' ? null : unquoted(text)))
  const [value] = typed
  if (field.type === 'boolean' && value === undefined) return ['true']
  // In a text field it is the word; "is null" is an operator of its own.
  return [value === 'null' && field.type !== 'text' ? null : (value ?? '')]
}

function unquoted(text: string): string {
  if (!text.startsWith('"')) return text
  try {
    const filter = parse(`x=${text}`)
    const value = filter.kind === 'condition' ? filter.values[0] : undefined
    return value?.kind === 'text' ? value.text : text
  } catch (error) {
    if (error instanceof FilterError) return text
    throw error
  }
}
