import type { FastifyRequest } from 'fastify'
import { containsKey, containsKeyMessage } from '../accounts/key-format.ts'
import { type Failure, invalid } from '../errors.ts'
import { limits } from '../limits.ts'

const printable = new RegExp(`^[\\x20-\\x7e]{1,${limits.idempotencyKeyCharactersMax}}$`)

/** The caller's own name for this one request; undefined without one. */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const keys = request.raw.headersDistinct['idempotency-key']
  if (keys === undefined) return undefined
  const [key] = keys
  // Refused, not redacted: two keys would become one, and the second request the first. Before the pattern sees it.
  if (keys.some(containsKey))
    throw wrong(`The Idempotency-Key ${containsKeyMessage} Any random text will do, such as a UUID.`)
  if (keys.length === 1 && key !== undefined && printable.test(key)) return key
  throw wrong(
    `The Idempotency-Key must be one header of 1 to ${limits.idempotencyKeyCharactersMax} printable ASCII characters.`,
  )
}

function wrong(message: string): Failure {
  return invalid({ parameter: 'Idempotency-Key', code: 'header_invalid', message })
}
