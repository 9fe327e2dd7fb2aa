import type { FieldType } from '../../catalog/field.ts'
import { type Fragment, sql } from '../../sql.ts'

/** The type of a parameter with the value of a field. Text has the collation of the column that it is compared with or assigned to. */
export const parameterTypes: Record<FieldType, Fragment> = {
  integer: sql`bigint`,
  decimal: sql`numeric`,
  text: sql`text`,
  boolean: sql`boolean`,
  timestamp: sql`timestamptz`,
}
