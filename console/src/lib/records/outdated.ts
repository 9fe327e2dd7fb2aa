import type { Fault } from '@quartermaster/client'
import { tokens } from '@quartermaster/filter'
import { type AccountCollection, isOwnName } from '../../api/own-fields.ts'
import type { Row } from '../../api/read.ts'
import type { ListParameters } from './records-search.ts'

/** Whether a list shows that fields were declared or deleted since the definitions were loaded. */
export function isOutdatedBy(
  { fields: definitions }: AccountCollection,
  { filter, fields }: ListParameters,
  rows: readonly Row[],
): boolean {
  const known = definitions.map(({ name }) => name).filter(isOwnName)
  const [row] = rows
  const returned = row === undefined ? [] : Object.keys(row).filter(isOwnName)
  const filtered = tokens(filter ?? '').flatMap((token) => (token.kind === 'field' ? [token.text] : []))
  const isDeclared = [...returned, ...filtered.filter(isOwnName)].some((name) => !known.includes(name))
  // Without `fields`, a record has every field.
  const isDeleted =
    row !== undefined && fields === undefined && known.some((name) => !returned.includes(name))
  return isDeclared || isDeleted
}

/** The names of declared fields that the service does not know. */
export function unknownOwnNames(
  faults: readonly Fault[],
  { filter = '', fields = '' }: ListParameters,
): readonly string[] {
  return faults
    .filter(({ code }) => code === 'field_unknown')
    .map(({ parameter, offset = 0, length = 0 }) =>
      (parameter === 'filter' ? filter : fields).slice(offset, offset + length),
    )
    .filter(isOwnName)
}
