import type { FastifyContextConfig, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { AccountReads } from '../../accounts/account-reads.ts'
import type { AccountWrites } from '../../accounts/account-writes.ts'
import type { Scope } from '../../accounts/key-format.ts'
import type { Batches } from '../../batches/batches.ts'
import type { ChangeFeed } from '../../changes/change-feed.ts'
import type { Definitions } from '../../fields/definitions.ts'
import type { Limits } from '../../limits/passed-limits.ts'
import type { Exports } from '../../lists/exports/exports.ts'
import type { ListReader } from '../../lists/list-reader.ts'
import type { PageCache } from '../../lists/page-cache.ts'
import type { PlanCache } from '../../lists/plan-cache.ts'
import type { RecordReader } from '../../lists/record-reader.ts'
import type { ResponseCache } from '../../lists/response-cache.ts'
import type { SummaryReader } from '../../lists/summary-reader.ts'
import type { EmitEvent } from '../../observability/events.ts'
import type { EventLoopShares } from '../../scheduler/shares.ts'
import type { TestMessages } from '../../webhooks/test-messages.ts'
import type { CreateParts } from '../../writes/create-record.ts'
import type { ParameterName } from '../openapi/parts.ts'
import type { Sample } from '../openapi/samples.ts'
import type { Schema } from '../openapi/schemas.ts'
import type { AuthenticationParts } from '../plugins/authenticate.ts'

/** A route: how it is registered, what the OpenAPI document says about it, and its handler. The rest is Fastify's config of the route. */
export interface Route extends FastifyContextConfig {
  /** The first is the method in the OpenAPI document. */
  readonly methods: readonly [Method, ...HTTPMethods[]]
  /** As in the OpenAPI document: `/manage/v1/keys/{key_id}`. */
  readonly path: string
  /** Any of them allows the request. */
  readonly scopes: readonly Scope[]
  /** Of a JSON body. Default: that of a create. */
  readonly bodyBytesMax?: number
  /** The handler receives the body as a stream. */
  readonly streamsBody?: boolean
  readonly operation: Operation
  /** Called once, when the route is registered. */
  readonly handler: (parts: RouteParts) => Handler
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
export type RouteRequest = FastifyRequest<{ Params: { id: string; key?: string; value?: string } }>
export type Handler = (request: RouteRequest, reply: FastifyReply) => Promise<unknown>

/** The parts of an OpenAPI operation that the rest of the route does not imply. */
export interface Operation {
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  /** Follows the sentence about the scopes. */
  readonly description?: string
  readonly samples: readonly Sample[]
  /** An extension of OpenAPI, such as `x-export`. */
  readonly extension?: object
  /** The name of a shared parameter, or the parameter. */
  readonly parameters?: readonly (ParameterName | object)[]
  /** The content of the body, by media type. */
  readonly body?: Readonly<Record<string, { readonly schema: Schema; readonly example: unknown }>>
  /** By status, besides the errors of every route that needs a key. */
  readonly responses: Readonly<Record<string, object>>
  /** Components of the document that this route defines. Several routes may define the same one. */
  readonly schemas?: Readonly<Record<string, Schema>>
  readonly sharedParameters?: Readonly<Record<string, object>>
}

/** The path as Fastify names it: `/manage/v1/keys/:id`, and with a unique field `…/product/:key/:value`. */
export function urlOf({ path }: Route): string {
  return path.replace(/\{(\w+)\}/g, (_, name) => (name === 'key' || name === 'value' ? `:${name}` : ':id'))
}

export const readMethods = ['GET', 'HEAD'] as const
export const listMethods = ['GET', 'HEAD', 'QUERY'] as const

/** What the handlers use. */
export interface RouteParts extends CreateParts {
  readonly authentication: AuthenticationParts
  readonly accountReads: AccountReads
  readonly definitions: Definitions
  readonly writes: AccountWrites
  readonly plans: PlanCache
  readonly listReader: ListReader
  readonly summaryReader: SummaryReader
  readonly recordReader: RecordReader
  readonly responseCache: ResponseCache
  readonly pageCache: PageCache
  readonly exports: Exports
  readonly feed: ChangeFeed
  readonly batches: Batches
  readonly webhooks: TestMessages
  /** Of the event loop, for parsing. */
  readonly shares: EventLoopShares
  readonly emit: EmitEvent
  /** Rejects if this process cannot serve requests. */
  readonly ready: () => Promise<unknown>
  /** Aborted when the process closes the connections of requests in flight. */
  readonly shutdown: AbortSignal
  readonly limits: Limits
}
