import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { withoutKeys } from '../accounts/key-format.ts'
import { limits } from '../limits.ts'

const sane = new RegExp(`^[A-Za-z0-9._:-]{1,${limits.requestIdCharactersMax}}$`)

export const newRequestId = randomUUID

/** The caller's own id where it is fit for a log line, so that both sides can find the request; else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  // It is logged and sent back, so it may be no key, and no regular expression may remember one.
  if (typeof given !== 'string' || withoutKeys(given) !== given) return newRequestId()
  return sane.test(given) ? given : newRequestId()
}
