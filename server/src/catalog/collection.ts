import type { Field } from './field.ts'

/** Whatever can be listed: its fields are what records have, what a filter may name and what documents tell. */
export interface Collection {
  readonly name: string
  /** As an error says it: "A … has no field …". */
  readonly noun: string
  readonly plural: string
  readonly path: string
  readonly description: string
  readonly fields: readonly Field[]
  /** Parameters besides those of every list, each with the values it takes; the first holds where none is given. */
  readonly choices?: Readonly<Record<string, readonly string[]>>
}
