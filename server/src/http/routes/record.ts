import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Verified } from '../../accounts/verifications.ts'
import type { Resource } from '../../catalog/resources.ts'
import { recordUnknown } from '../../errors/errors.ts'
import { excerpt } from '../../errors/faults.ts'
import { limits } from '../../limits/limits.ts'
import { recordQuery } from '../../lists/plan-cache.ts'
import type { RecordRequest } from '../../lists/record-reader.ts'
import type { RecordRow } from '../../query/sql/record-statement.ts'
import { verifiedFor } from '../plugins/authenticate.ts'
import { contextOf, recordSource, timed } from '../plugins/request-context.ts'
import { rawQueryOf } from '../request/raw-request.ts'
import { sendRead } from '../respond.ts'
import type { Reads } from './list.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Parsed before the key was verified. */
    recordRequest: RecordRequest | undefined
    /** Requested together with the verification of the key. */
    rowAhead: Promise<RecordRow | undefined> | undefined
  }
}

type RecordRouteRequest = FastifyRequest<{ Params: { id: string } }>

export function recordRoute({ recordReader, responseCache }: Reads, resource: Resource) {
  return async (request: RecordRouteRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const verified = verifiedFor(request, `${resource.name}:read`)
    const record = request.recordRequest ?? recordRequestOf(request, resource)
    const context = contextOf(request)
    const { rowAhead: ahead } = request
    const read = async () => {
      context.source = 'read'
      const response = await timed(request, () => recordReader.read(verified, record, ahead))
      if (response === undefined) throw recordUnknown(resource.noun, record.id)
      return response
    }
    const response = await recordSource(
      request,
      responseCache.get(verified, cacheKeyOf(record), read, reply.raw),
    )
    context.records = 1
    return sendRead(request, reply, response)
  }
}

/** Requests the row of the record, unless the response is cached or the request is not valid. */
export function recordAhead({ recordReader, responseCache }: Reads, resource: Resource) {
  return (request: RecordRouteRequest, { access }: Verified): void => {
    if (!access.scopes.has(`${resource.name}:read`)) return
    const record = recordRequestOf(request, resource)
    request.recordRequest = record
    if (responseCache.has(access, cacheKeyOf(record))) return
    request.rowAhead = recordReader.row(record, access.accountId)
    // Reported by the handler, if it needs the row.
    request.rowAhead.catch(() => {})
  }
}

function recordRequestOf(request: RecordRouteRequest, resource: Resource): RecordRequest {
  const { fields, requestHash: fieldsHash } = recordQuery(resource, rawQueryOf(request))
  const { id } = request.params
  requireId(resource, id)
  return { resource, id, fields, fieldsHash }
}

function cacheKeyOf({ id, fieldsHash }: RecordRequest): string {
  return `${id}-${fieldsHash}`
}

/** A positive integer without leading zeros that a JSON number represents exactly. No record has any other id. */
export function requireId({ noun }: Resource, text: string): void {
  if (!/^[1-9]\d{0,15}$/.test(text) || Number(text) > limits.integerMax)
    throw recordUnknown(noun, excerpt(text))
}
