import type { Resource } from '../catalog/resources.ts'
import { nearest } from '../errors/nearest.ts'

/** Ends an import early. The operator sees only the message: it says what is wrong and what to do. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}

/** For each column of a header, the index of its field in the catalog. Reports every fault of the header at once. */
export function fieldIndexes(resource: Resource, header: readonly string[]): number[] {
  const names = resource.fields.map(({ name }) => name)
  const faults = header.flatMap((name, i) => {
    if (!names.includes(name)) return [unknownField(resource, name)]
    return header.indexOf(name) < i ? [`the column ${name} occurs twice`] : []
  })
  // Only id is required here: a file of ids and quantities changes the quantities of existing records.
  rejectFile(resource, header.includes('id') ? faults : [...faults, 'the column id is missing'])
  return header.map((name) => names.indexOf(name))
}

/** Checks the first object of a file as if it were a header, so that an unknown field fails the import before a write. */
export function checkMembers(resource: Resource, members: object): void {
  const names = resource.fields.map(({ name }) => name)
  rejectFile(
    resource,
    Object.keys(members)
      .filter((name) => !names.includes(name))
      .map((name) => unknownField(resource, name)),
  )
}

export function unknownField(resource: Resource, name: string): string {
  const names = resource.fields.map((field) => field.name)
  const near = nearest(name, names)
  const help = near === undefined ? `its fields are ${names.join(', ')}` : `did you mean ${near}?`
  return `a ${resource.name} has no field ${JSON.stringify(name)} (${help})`
}

function rejectFile(resource: Resource, faults: readonly string[]): void {
  if (faults.length === 0) return
  throw new ImportError(
    `The file does not match the resource ${resource.name}: ${faults.join('; ')}. Nothing was written.`,
  )
}
