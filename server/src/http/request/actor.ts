import type { BlockList } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../accounts/audit.ts'
import type { Access } from '../../accounts/verifications.ts'
import { invalid } from '../../errors/errors.ts'
import { clientAddressOf } from '../plugins/request-context.ts'
import { bodyOf } from './raw-request.ts'

/** Who makes the change of a request, for the audit log. */
export function actorOf(request: FastifyRequest, { keyId }: Access, trustedProxies: BlockList): Actor {
  const application = request.headers['user-agent'] ?? null
  return { kind: 'key', id: keyId, application, address: clientAddressOf(request, trustedProxies) }
}

/** `what`: the request, as in "A revocation". */
export function rejectBody(request: FastifyRequest, what: string): void {
  if (bodyOf(request).length === 0) return
  const message = `${what} must not have a body.`
  throw invalid({ pointer: '', code: 'json_invalid', message }, 'body_invalid')
}
