import type { Field } from './field.ts'

/** A resource or a view. Records, filters and the OpenAPI document have the fields that are declared here. */
export interface Collection {
  readonly name: string
  /** For error messages: "A … has no field …". */
  readonly noun: string
  readonly plural: string
  readonly path: string
  readonly description: string
  readonly fields: readonly Field[]
  /** Stored fields that are part of no record unless `fields` names them. Filters may name them, too. */
  readonly onRequest?: readonly Field[]
  /** What `fields` may name besides the fields: part of no record unless it is requested, and of no filter. */
  readonly computed?: readonly Field[]
  /** Parameters besides those of every list, each with its allowed values; the first is the default. */
  readonly choices?: Readonly<Record<string, readonly string[]>>
}
