import type { Event, RequestAccess } from '../observability/events.ts'

/** A request of a known key, answered: what is kept of it waits as it was told, and is worked on when it is written. */
export type Answered = Extract<Event, { kind: 'request-completed' }> & { readonly access: RequestAccess }
