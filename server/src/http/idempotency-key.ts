import type { FastifyRequest } from 'fastify'
import { invalid } from '../errors.ts'
import { limits } from '../limits.ts'

const printable = new RegExp(`^[\\x20-\\x7e]{1,${limits.idempotencyKeyCharactersMax}}$`)

/** The caller's own name for this one request; undefined without one. */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const keys = request.raw.headersDistinct['idempotency-key']
  if (keys === undefined) return undefined
  const [key] = keys
  if (keys.length === 1 && key !== undefined && printable.test(key)) return key
  throw invalid({
    parameter: 'Idempotency-Key',
    code: 'header_invalid',
    message: `The Idempotency-Key must be one header of 1 to ${limits.idempotencyKeyCharactersMax} printable ASCII characters.`,
  })
}
