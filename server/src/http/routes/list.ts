import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccountReads } from '../../accounts/account-reads.ts'
import type { Resource } from '../../catalog/resources.ts'
import type { ListReader } from '../../lists/list-reader.ts'
import { exportQuery, type PlanCache } from '../../lists/plan-cache.ts'
import type { RecordReader } from '../../lists/record-reader.ts'
import type { ResponseCache } from '../../lists/response-cache.ts'
import type { Database } from '../../postgres/database.ts'
import { resourcePath } from '../paths.ts'
import { verifiedFor } from '../plugins/authenticate.ts'
import { contextOf, recordSource, timed } from '../plugins/request-context.ts'
import { exportFormatOf } from '../request/accept.ts'
import { rawParameters } from '../request/raw-request.ts'
import { matchingEtag, sendNotModified, sendRead } from '../respond.ts'
import { type ExportParts, sendExport } from './export.ts'

export interface Reads extends ExportParts {
  readonly database: Database
  readonly accountReads: AccountReads
  readonly plans: PlanCache
  readonly listReader: ListReader
  readonly recordReader: RecordReader
  readonly responseCache: ResponseCache
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
    const list = reads.plans.list(resource, raw, source, admit)
    const context = contextOf(request)
    const etag = matchingEtag(request, verified.tally, list.requestHash)
    if (etag !== undefined) {
      context.source = 'unchanged'
      return sendNotModified(reply, etag)
    }
    const read = (signal: AbortSignal) => {
      context.source = 'read'
      return timed(request, () => reads.listReader.read(verified, list, path, signal))
    }
    const response = await recordSource(
      request,
      reads.responseCache.get(verified, list.requestHash, read, reply.raw),
    )
    context.records = response.records
    return sendRead(request, reply, response)
  }
}
