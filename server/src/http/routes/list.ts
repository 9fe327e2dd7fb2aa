import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccountReads } from '../../accounts/account-reads.ts'
import type { Verified } from '../../accounts/verifications.ts'
import type { Resource } from '../../catalog/resources.ts'
import { limits } from '../../limits/limits.ts'
import type { ListAhead, ListReader } from '../../lists/list-reader.ts'
import type { PagePrefetcher } from '../../lists/page-prefetcher.ts'
import { exportQuery, type ListQuery, listQuery } from '../../lists/plan-cache.ts'
import type { RecordReader } from '../../lists/record-reader.ts'
import type { ResponseCache } from '../../lists/response-cache.ts'
import type { Database } from '../../postgres/database.ts'
import { resourcePath } from '../paths.ts'
import { verifiedFor } from '../plugins/authenticate.ts'
import { contextOf, recordSource, timed } from '../plugins/request-context.ts'
import { exportFormatOf } from '../request/accept.ts'
import { rawParameters } from '../request/list-parameters.ts'
import { rawQueryOf } from '../request/raw-request.ts'
import { matchingEtag, sendNotModified, sendRead } from '../respond.ts'
import { type ExportParts, sendExport } from './export.ts'

export interface Reads extends ExportParts {
  readonly database: Database
  readonly accountReads: AccountReads
  readonly listReader: ListReader
  readonly prefetcher: PagePrefetcher
  readonly recordReader: RecordReader
  readonly responseCache: ResponseCache
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Parsed before the key was verified. */
    listQuery: ListQuery | undefined
    /** Sent together with the verification of the key. */
    listAhead: ListAhead | undefined
  }
}

/** Sends the statement of the list, unless its response may be cached, by the service or by the client. */
export function listAhead({ accountReads, listReader, responseCache }: Reads, resource: Resource) {
  return (request: FastifyRequest, recent: Verified): void => {
    const { method, headers } = request
    if (method === 'QUERY' || headers['if-none-match'] !== undefined) return
    if (exportFormatOf(headers.accept) !== undefined) return
    if (!recent.access.scopes.has(`${resource.name}:read`)) return
    if ((request.raw.url?.length ?? 0) > limits.longRequestBytes) return
    const admit = () => accountReads.rejectIfFull(recent.access)
    const list = listQuery(resource, rawQueryOf(request), 'url', admit)
    request.listQuery = list
    if (!responseCache.has(recent.access, list.requestHash))
      request.listAhead = listReader.ahead(recent, list)
  }
}

/** A list, by GET with its parameters in the URL, or by QUERY with the same parameters in the body. */
export function listRoute(reads: Reads, resource: Resource) {
  const path = resourcePath(resource)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const verified = verifiedFor(request, `${resource.name}:read`)
    const [raw, source] = rawParameters(request)
    const format = exportFormatOf(request.headers.accept)
    if (format !== undefined) {
      const all = exportQuery(resource, raw, source, format)
      return sendExport(reads, request, reply, verified, all, format)
    }
    const admit = () => reads.accountReads.rejectIfFull(verified.access)
    const list = request.listQuery ?? listQuery(resource, raw, source, admit)
    const context = contextOf(request)
    const etag = matchingEtag(request, verified.tally, list.requestHash)
    if (etag !== undefined) {
      context.source = 'unchanged'
      return sendNotModified(reply, etag)
    }
    const read = (signal: AbortSignal) => {
      context.source = 'read'
      const { listAhead: ahead } = request
      return timed(request, () => reads.listReader.read(verified, list, path, signal, ahead))
    }
    const response = await recordSource(
      request,
      reads.responseCache.get(verified, list.requestHash, read, reply.raw),
    )
    context.records = response.records
    reads.prefetcher.onPage(verified, list, path, response, request.raw.socket)
    return sendRead(request, reply, response)
  }
}
