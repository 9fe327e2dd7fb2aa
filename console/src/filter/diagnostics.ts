import type { Fault } from '@quartermaster/client'
import { type Filter, FilterError, parse } from '@quartermaster/filter'
import { type Collection, type Field, operatorsOf } from '../api/catalog.ts'
import { type AccountCollection, isOwnName } from '../api/own-fields.ts'
import { t } from '../texts/texts.ts'

/** An error in a filter, at its position. */
export interface Diagnostic {
  readonly offset: number
  readonly length: number
  readonly message: string
  /** The complete filter, corrected. */
  readonly suggestion: string | undefined
}

export interface Checked {
  /** Undefined if the text is empty or has a syntax error. */
  readonly filter: Filter | undefined
  readonly diagnostics: readonly Diagnostic[]
}

type Checkable = Collection & Partial<AccountCollection>

/** What can be known without the service: the syntax, unknown fields, and operators that a type does not have. */
export function check(text: string, collection: Checkable): Checked {
  if (text.trim() === '') return { filter: undefined, diagnostics: [] }
  try {
    const filter = parse(text)
    return { filter, diagnostics: conditionsOf(filter).flatMap((one) => faultsOf(one, collection)) }
  } catch (error) {
    if (!(error instanceof FilterError)) throw error
    const { offset, length, message, suggestion } = error.problem
    return { filter: undefined, diagnostics: [{ offset, length, message, suggestion }] }
  }
}

/** The errors that the service found in this filter. */
export function serverDiagnostics(faults: readonly Fault[]): readonly Diagnostic[] {
  return faults
    .filter(({ parameter }) => parameter === 'filter')
    .map(({ offset = 0, length = 0, message, suggestion }) => ({ offset, length, message, suggestion }))
}

type Condition = Extract<Filter, { kind: 'condition' }>

function conditionsOf(filter: Filter): readonly Condition[] {
  return filter.kind === 'condition' ? [filter] : filter.terms.flatMap(conditionsOf)
}

function faultsOf(
  { field: name, operator, operatorSpan }: Condition,
  { name: list, fields, isComplete = true }: Checkable,
): Diagnostic[] {
  const field = fields.find((one) => one.name === name.text)
  if (field === undefined) {
    // Only the service knows whether it is declared.
    if (!isComplete && isOwnName(name.text)) return []
    const message = t.filter.noField(t.nouns[list].one, name.text)
    return [{ offset: name.offset, length: name.length, message, suggestion: undefined }]
  }
  if (operatorsOf[field.type].includes(operator)) return []
  return [{ ...operatorSpan, message: operatorMessage(field, operator), suggestion: undefined }]
}

function operatorMessage({ name, type }: Field, operator: string): string {
  return t.filter.noOperator(name, type, operator, operatorsOf[type].join(' '))
}
