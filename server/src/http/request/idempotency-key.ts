import type { FastifyRequest } from 'fastify'
import { containsKey, containsKeyMessage } from '../../accounts/key-format.ts'
import { type Failure, invalid } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'

const printable = new RegExp(`^[\\x20-\\x7e]{1,${limits.idempotencyKeyCharactersMax}}$`)

/** The Idempotency-Key header, validated; undefined without one. */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const keys = request.raw.headersDistinct['idempotency-key']
  if (keys === undefined) return undefined
  const [key] = keys
  // Rejected, not redacted: two redacted keys would be equal. Tested before the regular expression, which would retain it.
  if (keys.some(containsKey))
    throw invalidHeader(`The Idempotency-Key ${containsKeyMessage} Send a random string such as a UUID.`)
  if (keys.length === 1 && key !== undefined && printable.test(key)) return key
  throw invalidHeader(
    `The Idempotency-Key must be one header of 1 to ${limits.idempotencyKeyCharactersMax} printable ASCII characters.`,
  )
}

function invalidHeader(message: string): Failure {
  return invalid({ parameter: 'Idempotency-Key', code: 'header_invalid', message })
}
