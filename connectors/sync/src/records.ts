import type { UpsertTotals } from '@quartermaster/client'
import type { ResourceName } from './source.ts'

export interface Rejected {
  readonly row: object
  readonly field: string
  readonly reason: string
  readonly code?: string | undefined
}

export type RecordChange =
  | {
      readonly change: 'created' | 'updated'
      readonly id: number
      readonly cursor: string | undefined
      readonly record: RecordHere
    }
  | { readonly change: 'deleted' | 'removed'; readonly id: number; readonly cursor: string | undefined }

export type RecordHere = { readonly id: number } & Readonly<Record<string, unknown>>

interface ReadOptions {
  readonly fields: readonly string[]
  readonly filter?: string
}

/** What a connector uses of a resource of the client. Its fields are known only at run time. */
export interface Records {
  all(options: ReadOptions): AsyncGenerator<RecordHere, void, undefined>
  changes(
    options: ReadOptions & { readonly since?: string | undefined },
  ): AsyncGenerator<RecordChange, string, undefined>
  upsert(
    rows: readonly object[],
    options: { readonly key: string; readonly onRejected: (rejected: Rejected) => void },
  ): Promise<UpsertTotals>
  update(id: number, patch: object): Promise<unknown>
}

interface Resources {
  readonly products: unknown
  readonly partners: unknown
  readonly companies: unknown
}

/** A resource of the client. Its types depend on fields that only the mapping names, at run time. */
export function recordsOf({ products, partners, companies }: Resources, resource: ResourceName): Records {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each has these methods
  return { product: products, partner: partners, company: companies }[resource] as Records
}
