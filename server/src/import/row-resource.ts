import type { RecordField } from '../catalog/field.ts'
import type { KeyField } from '../catalog/own-fields.ts'
import type { Resource } from '../catalog/resources.ts'

/** A resource as the rows of an input have it. */
export interface RowResource extends Resource {
  /** The unique field by which rows name their records. Undefined: by the id. */
  readonly rowKey?: KeyField | undefined
}

/** The position of the field that names the record of a row. */
export function addressIndex({ fields, rowKey }: RowResource): number {
  return rowKey === undefined ? 0 : fields.findIndex(({ name }) => name === rowKey.name)
}

export function addressField(resource: RowResource): RecordField {
  const field = resource.fields[addressIndex(resource)]
  if (field === undefined) throw new Error(`${resource.name} has no fields`)
  return field
}
