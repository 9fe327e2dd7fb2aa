import type { FastifyRequest } from 'fastify'
import type { Resource } from '../../catalog/resources.ts'
import type { Definitions } from '../../fields/definitions.ts'
import { verifiedFor } from './authenticate.ts'

/** The resource of the route with the fields that the account has declared. A promise only if these are not cached. */
export function ownResource(
  request: FastifyRequest,
  definitions: Definitions,
  resource: Resource,
): Resource | Promise<Resource> {
  const { access, tally } = verifiedFor(request)
  return definitions.of(access, resource, tally.schema)
}
