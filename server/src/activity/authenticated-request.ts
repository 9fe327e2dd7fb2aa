import type { Event, RequestAccess } from '../observability/events.ts'

/** The event of a request with an accepted key. It is queued as it is; its parameters are decoded when it is written. */
export type AuthenticatedRequest = Extract<Event, { kind: 'request-completed' }> & {
  readonly access: RequestAccess
}
