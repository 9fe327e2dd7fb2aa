import type { FastifyRequest } from 'fastify'
import type { Resource } from '../../catalog/resources.ts'
import type { Definitions } from '../../fields/definitions.ts'
import { DefinitionsChanged } from '../../writes/record-keys.ts'
import { accessAndSchema } from './authenticate.ts'

/** How often a write starts again because the account has changed its fields meanwhile. */
const attemptsMax = 5

/** Runs a write to the resource with the fields that the account has declared. If the account has changed them before the write could lock them, it runs again. */
export async function writeOwn<Result>(
  request: FastifyRequest,
  definitions: Definitions,
  route: Resource,
  write: (resource: Resource) => Promise<Result>,
): Promise<Result> {
  const { access, schema } = accessAndSchema(request)
  const found = definitions.of(access, route, schema)
  let resource = found instanceof Promise ? await found : found
  for (let attempts = 1; ; attempts++) {
    try {
      return await write(resource)
    } catch (error) {
      if (!(error instanceof DefinitionsChanged) || attempts === attemptsMax) throw error
      resource = (await definitions.current(access, route)).resource
    }
  }
}
