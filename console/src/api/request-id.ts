import { randomKey } from '../lib/random-key.ts'

/** Requests of the console have ids that begin with this. The request log has the id of every request. */
const prefix = 'console-'

/** Requests of other programs. */
export const notOfConsole = `request_id!*${prefix}`

/** Marks a request as one of the console, so that it can be left out of the request log. */
export function newRequestId(): string {
  return prefix + randomKey()
}
