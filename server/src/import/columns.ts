import { etagField } from '../catalog/field.ts'
import type { Resource } from '../catalog/resources.ts'
import type { Fault } from '../errors/errors.ts'
import { excerpt, Faults } from '../errors/faults.ts'
import { nearest } from '../errors/nearest.ts'
import { limits } from '../limits/limits.ts'
import { addressField, type RowResource } from './row-resource.ts'

/** Ends an import early. The operator sees only the message: it says what is wrong and what to do. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
  /** For the response to a batch. */
  readonly faults: readonly Fault[]

  constructor(
    message: string,
    { faults = [], ...options }: ErrorOptions & { faults?: readonly Fault[] } = {},
  ) {
    super(message, options)
    this.faults = faults
  }
}

/** The member of a row with the ETag that its record must have. */
export const ifMatchMember = '$if_match'

/** Blank lines are skipped, but each costs time. */
export function rejectBlankLines(count: number): void {
  if (count <= limits.importBlankLinesMax) return
  throw new ImportError(`The file has more than ${limits.importBlankLinesMax} blank lines. Remove them.`)
}

/** Faults of a header that its message names. */
const namedMax = 5

/**
 * For each column of a header, the index of its field in the catalog. Reports every fault of the header at once. `isCut`: the header
 * has more columns than the resource has fields, and these are the first of them.
 */
export function fieldIndexes(
  resource: RowResource,
  header: readonly string[],
  { isCut = false }: { readonly isCut?: boolean } = {},
): number[] {
  const indexes = new Map(resource.fields.map(({ name }, i) => [name, i]))
  const faults = new Faults()
  const seen = new Set<string>()
  if (isCut) faults.add(() => columnFault(tooMany('the header', 'columns', resource)))
  for (const name of header) {
    if (!indexes.has(name)) faults.add(() => unknownFault(resource, name))
    else if (seen.has(name)) faults.add(() => columnFault(`the column ${name} occurs twice`))
    else if (isIdBesideKey(resource, name)) faults.add(() => idFault(resource, 'the column id'))
    seen.add(name)
  }
  // Only what names the record is required here: a file of ids and quantities changes the quantities of existing records.
  const { name: address } = addressField(resource)
  if (!isCut && !seen.has(address)) faults.add(() => columnFault(`the column ${address} is missing`))
  rejectFile(resource, faults)
  return header.map((name) => indexes.get(name) ?? 0)
}

/** Checks the first object of a file as if it were a header, so that an unknown field fails the import before a write. */
export function checkMembers(
  resource: RowResource,
  names: readonly string[],
  { isCut = false }: { readonly isCut?: boolean } = {},
): void {
  const known = new Set(resource.fields.map(({ name }) => name))
  const faults = new Faults()
  if (isCut) faults.add(() => columnFault(tooMany('its first row', 'members', resource)))
  for (const name of names)
    if (!known.has(name) && name !== ifMatchMember) faults.add(() => unknownFault(resource, name))
    else if (isIdBesideKey(resource, name)) faults.add(() => idFault(resource, 'the member id'))
  rejectFile(resource, faults)
}

/** Two names for one record could mean two records. */
function isIdBesideKey({ rowKey }: RowResource, name: string): boolean {
  return rowKey !== undefined && name === 'id'
}

function idFault(resource: RowResource, what: string): Fault {
  return columnFault(`${what} ${idBesideKey(addressField(resource).name)}`)
}

export function idBesideKey(key: string): string {
  return `must be omitted: rows with key=${key} name their records by ${key}, and the service assigns the ids`
}

export function unknownField(resource: Resource, name: string): string {
  if (name === etagField.name) return `etag is not written: send it as ${ifMatchMember}, or omit it`
  if (resource.onRequest?.some((field) => field.name === name) === true)
    return `${name} is not written: the service assigns it. Omit it`
  if (name === ifMatchMember) return `${ifMatchMember} is a member of JSON rows, not a column of CSV`
  const names = resource.fields.map((field) => field.name)
  const near = nearest(name, names)
  const help = near === undefined ? `its fields are ${names.join(', ')}` : `did you mean ${near}?`
  return `a ${resource.name} has no field ${JSON.stringify(excerpt(name))} (${help})`
}

export function tooMany(what: string, parts: string, { name, fields }: Resource): string {
  return `${what} has more ${parts} than a ${name} has fields (${fields.length})`
}

function unknownFault(resource: Resource, name: string): Fault {
  return {
    code: 'field_unknown',
    message: unknownField(resource, name),
    expected: resource.fields.map((field) => field.name),
  }
}

function columnFault(message: string): Fault {
  return { code: 'member_invalid', message }
}

function rejectFile(resource: Resource, faults: Faults): void {
  if (faults.count === 0) return
  const named = faults.listed.slice(0, namedMax)
  const more = faults.count - named.length
  const messages = named.map(({ message }) => message).join('; ')
  throw new ImportError(
    `The file does not match the resource ${resource.name}: ${messages}${more > 0 ? ` (and ${more} more)` : ''}. Nothing was written.`,
    { faults: faults.listed },
  )
}
