import { FilterError, parse } from '@quartermaster/filter'
import type { Value } from '../api/read.ts'
import { plainText } from '../lib/format.ts'
import { chipsOf, textOf, withChip } from './model.ts'

/** The filter with one more condition: the field has this value. A filter with an error is replaced. */
export function narrowed(filter: string | undefined, field: string, value: Value): string {
  const chip = {
    kind: 'chip',
    field,
    operator: '=',
    values: [value === null ? null : plainText(value)],
  } as const
  return textOf(withChip(parsed(filter), chip))
}

function parsed(filter: string | undefined) {
  if (filter === undefined) return undefined
  try {
    return chipsOf(parse(filter))
  } catch (error) {
    if (error instanceof FilterError) return undefined
    throw error
  }
}
