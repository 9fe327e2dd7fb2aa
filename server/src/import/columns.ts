import type { Resource } from '../catalog/resources.ts'
import { nearest } from '../query/nearest.ts'

/** What makes an import end early. Its message is all that the operator reads: one sentence, and what to do. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}

/** Where in the catalog each column of a header stands. All that is wrong with the header is told at once. */
export function placesOf(resource: Resource, header: readonly string[]): number[] {
  const names = resource.fields.map(({ name }) => name)
  const faults = header.flatMap((name, i) => {
    if (!names.includes(name)) return [unknownField(resource, name)]
    return header.indexOf(name) < i ? [`the column ${name} is there twice`] : []
  })
  // Other columns may be missing: a file of quantities changes the quantities of records that are there.
  refuse(resource, header.includes('id') ? faults : [...faults, 'the column id is missing'])
  return header.map((name) => names.indexOf(name))
}

/** The first object of a file stands for its header: a member that no field has is noticed before anything is written. */
export function checkMembers(resource: Resource, members: object): void {
  const names = resource.fields.map(({ name }) => name)
  refuse(
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

function refuse(resource: Resource, faults: readonly string[]): void {
  if (faults.length === 0) return
  throw new ImportError(
    `This is not a file of ${resource.plural}: ${faults.join('; ')}. Nothing was written.`,
  )
}
