import type { ErrorCode } from '../errors.ts'
import type { AccountScope } from '../scope.ts'

export interface RequestAccess extends AccountScope {
  readonly keyId: string
}

/** What handlers know of a request and nobody else: one small object, made by the first who has something to say. */
export interface RequestFacts {
  code: ErrorCode | undefined
  detail: string | undefined
  records: number
  cached: boolean
  /** The parameters of a QUERY, which are not in its URL. */
  form: string | undefined
}

/** Everything worth telling an operator, as one union. Logs subscribe to it; metrics and traces will. */
export type Event =
  | { readonly kind: 'listening'; readonly host: string; readonly port: number }
  | { readonly kind: 'stopping' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'connection-broken'; readonly error: Error }
  | {
      readonly kind: 'request-failed'
      readonly requestId: string
      readonly code: ErrorCode
      readonly cause: unknown
    }
  | {
      readonly kind: 'request-answered'
      readonly requestId: string
      readonly method: string
      readonly route: string
      readonly status: number
      readonly ms: number
      /** Whose key it was; undefined where none was accepted. */
      readonly access: RequestAccess | undefined
      /** As it was sent. For the account's own log: the operator's has neither filters nor ids. */
      readonly url: string
      readonly bytes: number
      readonly facts: RequestFacts | undefined
    }
  | { readonly kind: 'requests-unlogged'; readonly count: number }
  | { readonly kind: 'activity-unwritten'; readonly error: unknown }

export type Tell = (event: Event) => void
