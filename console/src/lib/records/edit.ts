import type { Collection, Field } from '../../api/catalog.ts'
import type { Row, Value } from '../../api/read.ts'
import { t } from '../../texts/texts.ts'
import { plainText } from '../format.ts'
import { withPoint } from '../import/values.ts'
import { localParts } from '../time.ts'

/** A record as a form: the text of each input. Only what a person changed is sent. */
export type Draft = Readonly<Record<string, string>>

/** Set by the service. */
const readOnly = new Set(['id', 'create_date', 'write_date'])

/** The fields of a form. What is typed comes before what is ticked: it is changed more often. */
export function writableFields({ fields }: Pick<Collection, 'fields'>): readonly Field[] {
  const writable = fields.filter(({ name }) => !readOnly.has(name))
  const isTicked = ({ type }: Field) => type === 'boolean'
  return [...writable.filter((field) => !isTicked(field)), ...writable.filter(isTicked)]
}

/** Neither null nor a default: the service rejects a record without it. */
export function isRequired({ type, nullable }: Field): boolean {
  return type === 'text' && !nullable
}

export function draftOf(fields: readonly Field[], record: Row): Draft {
  return Object.fromEntries(fields.map((field) => [field.name, inputText(field, record[field.name])]))
}

/** A new record, with the values that the service sets by default. */
export function emptyDraft(fields: readonly Field[]): Draft {
  return Object.fromEntries(
    fields.map(({ name, type, nullable }) => [
      name,
      type === 'boolean' && !nullable ? String(name === 'active') : '',
    ]),
  )
}

function inputText({ type }: Field, value: Value | undefined): string {
  if (type === 'timestamp') return localParts(value)?.join('T') ?? ''
  const text = plainText(value)
  return type === 'decimal' ? text.replace('.', t.decimalSign) : text
}

/** The members that differ, as the service takes them. */
export function patchOf(
  fields: readonly Field[],
  base: Draft,
  draft: Draft,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    fields
      .filter(({ name }) => draft[name] !== base[name])
      .map((field) => [field.name, bodyValue(field, draft[field.name] ?? '')]),
  )
}

/** What the service cannot accept is sent as it was typed, so that it explains why. */
function bodyValue({ type, nullable }: Field, text: string): Value {
  if (type === 'text') return text === '' && nullable ? null : text
  const trimmed = text.trim()
  if (trimmed === '') return null
  switch (type) {
    case 'boolean':
      return trimmed === 'true' ? true : trimmed === 'false' ? false : trimmed
    case 'integer': {
      const number = Number(trimmed)
      return Number.isSafeInteger(number) ? number : trimmed
    }
    case 'decimal':
      // As a text, with every digit.
      return t.decimalSign === ',' ? withPoint(trimmed) : trimmed
    case 'timestamp': {
      const time = new Date(trimmed)
      return Number.isNaN(time.getTime()) ? trimmed : time.toISOString()
    }
    default:
      return type satisfies never
  }
}

/** A field that two people changed differently since the same version. */
export interface Conflict {
  readonly field: Field
  readonly theirs: string
  readonly yours: string
}

export interface Merged {
  readonly conflicts: readonly Conflict[]
  /** Fields that only the others changed. */
  readonly onlyTheirs: readonly Field[]
  /** Their version, with the changes that only you made. */
  readonly draft: Draft
}

/** Puts changes on top of the version that others wrote meanwhile. */
export function mergedWith(fields: readonly Field[], base: Draft, yours: Draft, theirs: Draft): Merged {
  const changed = (draft: Draft) => (field: Field) => draft[field.name] !== base[field.name]
  const isYours = changed(yours)
  const isTheirs = changed(theirs)
  const textOf = (draft: Draft, { name }: Field) => draft[name] ?? ''
  return {
    conflicts: fields
      .filter((field) => isYours(field) && isTheirs(field) && textOf(yours, field) !== textOf(theirs, field))
      .map((field) => ({ field, theirs: textOf(theirs, field), yours: textOf(yours, field) })),
    onlyTheirs: fields.filter((field) => isTheirs(field) && !isYours(field)),
    draft: Object.fromEntries(
      fields.map((field) => [field.name, textOf(isYours(field) ? yours : theirs, field)]),
    ),
  }
}

const confirmCharactersMax = 40

/** What a person types to delete a record: its name, unless that is too long to type. */
export function confirmationOf(record: Row): { readonly what: 'name' | 'ID'; readonly text: string } {
  const name = plainText(record['name']).trim()
  if (name !== '' && name.length <= confirmCharactersMax) return { what: 'name', text: name }
  return { what: 'ID', text: plainText(record['id']) }
}
