import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Actor } from '../../accounts/audit.ts'
import type { OperatorScope } from '../../accounts/operators/tokens.ts'
import type { OwnerConnections } from '../../postgres/owner-connections.ts'
import type { BodyShape } from '../request/body.ts'

/** A route of the operator API: how it is registered, what its OpenAPI document says, and its handler. */
export interface OperatorRoute {
  readonly method: Extract<HTTPMethods, 'GET' | 'PUT' | 'POST' | 'DELETE'>
  /** As in the OpenAPI document: `/operator/v1/accounts/{name}`. */
  readonly path: string
  readonly scope: OperatorScope
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  /** The names of query parameters with their schemas. All others are rejected. */
  readonly query?: Readonly<Record<string, { readonly description: string; readonly schema: object }>>
  readonly body?: BodyShape
  /** The status of a response without an error, what it is, and an example of its data. */
  readonly success: { readonly status: number; readonly description: string; readonly example: unknown }
  /** The statuses of its errors besides those of every route. */
  readonly errors: readonly (404 | 409)[]
  readonly handler: (parts: OperatorParts) => (call: OperatorCallParts) => Promise<unknown>
}

export interface OperatorParts {
  readonly connections: OwnerConnections
}

/** What a handler knows of its request. */
export interface OperatorCallParts {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly actor: Actor
  readonly name: string
  readonly keyId: string
  readonly query: ReadonlyMap<string, string>
}

export const base = '/operator/v1'

/** The path as Fastify names it. */
export function urlOf({ path }: OperatorRoute): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}
