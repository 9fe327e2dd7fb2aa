/** What the supervisor starts the load with. */
export interface LoadOptions {
  readonly servers: readonly { readonly name: string; readonly address: string }[]
  readonly accounts: readonly LoadAccount[]
  readonly seed: number
  /** One line for each request: an `Event`. */
  readonly events: string
  /** Written at the end: a `LedgerFile`. */
  readonly ledger: string
}

/**
 * What is written to an account. `grow`: creates by several writers, each retried until it is acknowledged. `probe`: creates at a
 * fixed rate that are never retried. `change`: creates, patches and deletes, one after the other. `batch`: batches, one after the
 * other. `upsert`: clients that upsert the same records by a unique field, each until it is acknowledged.
 */
export type AccountKind = 'grow' | 'probe' | 'change' | 'batch' | 'upsert'

export interface LoadAccount {
  readonly name: string
  readonly key: string
  readonly kind: AccountKind
}

export const writeKinds = ['create', 'probe', 'patch', 'delete', 'batch', 'upsert'] as const
export const readKinds = ['list', 'one', 'feed'] as const
export type RequestKind = (typeof writeKinds)[number] | (typeof readKinds)[number] | 'ready'

/** One request: when it was sent, in milliseconds; how long it took; its status, or 0 without a response. */
export interface Event {
  readonly at: number
  readonly ms: number
  readonly kind: RequestKind
  readonly server: string
  readonly status: number
  /** The code of the problem, or of the error of the connection. */
  readonly code?: string
  /** What is wrong with the response. */
  readonly wrong?: string
}

export type Row = readonly [id: number, ...values: readonly (string | boolean | null)[]]

/** What the database must have after the run. */
export interface LedgerFile {
  readonly acknowledged: number
  readonly accounts: readonly LedgerAccount[]
}

export interface LedgerAccount {
  readonly name: string
  /** `change` and `batch`: every record, completely. */
  readonly rows?: readonly Row[]
  /** `grow`, `probe` and `upsert`: the id of each acknowledged name, and the names of unknown outcome. */
  readonly created?: readonly (readonly [name: string, id: number])[]
  readonly unknown?: readonly string[]
  /** The copy of a consumer of the change feed: id and name. */
  readonly copy: readonly (readonly [id: number, name: string])[]
}

/** To the supervisor, for each acknowledged create at a fixed rate. */
export interface Acknowledged {
  readonly server: string
  readonly sentAt: number
  readonly at: number
}
