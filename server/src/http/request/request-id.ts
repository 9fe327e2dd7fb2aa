import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { withoutKeys } from '../../accounts/key-format.ts'
import { limits } from '../../limits/limits.ts'

const pattern = new RegExp(`^[A-Za-z0-9._:-]{1,${limits.requestIdCharactersMax}}$`)

/** The client's X-Request-Id if it is valid, so that client and operator can find the request in their logs; otherwise a new id. */
export function requestIdOf(request: IncomingMessage): string {
  const id = request.headers['x-request-id']
  // It is logged and sent back, so it must not contain a key. Tested before the regular expression, which would retain it.
  if (typeof id !== 'string' || withoutKeys(id) !== id) return randomUUID()
  return pattern.test(id) ? id : randomUUID()
}
