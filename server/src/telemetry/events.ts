import type { ErrorCode } from '../errors.ts'

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
    }

export type Tell = (event: Event) => void
