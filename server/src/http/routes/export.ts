import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Verified } from '../../accounts/verifications.ts'
import type { Resource } from '../../catalog/resources.ts'
import { snapshotCursor } from '../../changes/feed-page.ts'
import { Failure } from '../../errors/errors.ts'
import { exportBody } from '../../lists/exports/export-body.ts'
import type { RunningExport } from '../../lists/exports/running-export.ts'
import { listKey, type PageCache } from '../../lists/page-cache.ts'
import type { ExportQuery } from '../../lists/plan-cache.ts'
import { etagOf } from '../../lists/response.ts'
import type { EmitEvent } from '../../observability/events.ts'
import type { ListPlan } from '../../query/plan.ts'
import { markedName } from '../../query/spreadsheet-form.ts'
import { type ExportFormat, exportStatement } from '../../query/sql/export-statement.ts'
import type { AccountScope } from '../../scope.ts'
import type { Tally } from '../../tally-state.ts'
import { leaveFlow } from '../http-server.ts'
import { exampleRecord } from '../openapi/schemas.ts'
import { clientSignal, contextOf, timed } from '../plugins/request-context.ts'
import { acceptsGzip } from '../request/headers.ts'
import { matchingEtag, sendNotModified, setCacheHeaders } from '../respond.ts'
import type { RouteParts } from './route.ts'

const mediaTypes: Record<ExportFormat, string> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present',
  spreadsheet: 'text/csv; charset=utf-8; header=present; form=spreadsheet',
}

/** The fastest level: 265 MB of products become 41 MB in 3 s. A level that takes twice the time saves another 9 MB. */
const gzipLevel = 1

/** A planned export, and how it is planned for other fields of the account. */
export interface PlannedExport {
  readonly query: ExportQuery
  readonly plan: (resource: Resource) => ExportQuery
}

/** Streams all records of a list. A failure before the first record is a normal error response. */
export async function sendExport(
  parts: RouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { access, tally }: Verified & { readonly tally: Tally },
  planned: PlannedExport,
  format: ExportFormat,
): Promise<FastifyReply> {
  const { definitions, exports, pageCache, emit, shutdown } = parts
  const { requestHash: verifiedHash } = planned.query
  const matchesAny = request.headers['if-none-match'] === '*'
  const etag = matchesAny ? etagOf(tally, verifiedHash) : matchingEtag(request, tally, verifiedHash)
  if (etag !== undefined) {
    contextOf(request).source = 'unchanged'
    return sendNotModified(reply, etag)
  }
  leaveFlow(reply.raw)
  let running = await exports.acquire(access, clientSignal(reply))
  const onShutdown = () => abort(request, emit, shuttingDown())
  shutdown.addEventListener('abort', onShutdown)
  reply.raw.once('close', () => {
    shutdown.removeEventListener('abort', onShutdown)
    running.end()
  })
  const start = async (of: ListPlan): Promise<void> => {
    if (reply.raw.destroyed) running.end()
    const copy = exportStatement(access, of, format)
    running.onErased = (failure) => abort(request, emit, failure)
    await timed(request, () => running.start({ scope: access, resource: of.resource.name, copy }, tally))
  }
  let { query } = planned
  await start(query.plan)
  // A write was committed meanwhile. If it declared a field, the records lack it, and the cursor says that the client has it.
  while (running.version !== tally.version) {
    const { resource } = await definitions.current(access, query.plan.resource)
    if (resource.schemaName === query.plan.resource.schemaName) break
    running.end()
    query = planned.plan(resource)
    running = await exports.acquire(access, clientSignal(reply))
    await start(query.plan)
  }
  const { plan, requestHash } = query
  setExportHeaders(reply, access, running, query, pageCache)
  setCacheHeaders(reply, etagOf(running, requestHash)).type(mediaTypes[format])
  if (format !== 'ndjson')
    reply.header('content-disposition', `attachment; filename="${plan.resource.plural}.csv"`)
  if (request.method === 'HEAD') {
    running.end()
    return reply.send()
  }
  let records = 0
  // HTTP/1.0 has no chunked encoding, and therefore no trailers.
  if (request.raw.httpVersionMinor > 0) reply.trailer('x-record-count', async () => String(records))
  const body = Readable.from(
    abortOnError(
      exportBody(running, format, plan.fields, (count) => {
        records = count
        contextOf(request).records = count
      }),
      request,
      emit,
    ),
  )
  if (!acceptsGzip(request.headers['accept-encoding'])) return reply.send(body)
  reply.header('content-encoding', 'gzip')
  return reply.send(pipeline(body, createGzip({ level: gzipLevel }), () => {}))
}

/** The total, if it is known without counting, and the cursor of the snapshot. */
function setExportHeaders(
  reply: FastifyReply,
  access: AccountScope,
  running: RunningExport,
  { plan, filterKey, feedFilter }: ExportQuery,
  pageCache: PageCache,
): void {
  const name = listKey(access, plan.resource.schemaName, filterKey)
  const cached = pageCache.get(name, running)
  const total =
    plan.where === undefined ? running.total : cached?.isCurrent === true ? cached.entry.total : undefined
  if (total !== undefined) reply.header('x-total-count', total)
  if (feedFilter !== undefined) {
    const feed = { accountId: access.accountId, resource: plan.resource.name, filterKey: feedFilter }
    reply.header('x-changes-cursor', snapshotCursor(feed, running))
  }
}

/** Aborts the response if the body fails, unless the client disconnected: then that is the cause. */
async function* abortOnError(
  body: AsyncIterable<Buffer>,
  request: FastifyRequest,
  emit: EmitEvent,
): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    const cause = error instanceof Failure ? error : new Failure('internal', 'The export failed.', [], error)
    if (!request.raw.socket.destroyed) abort(request, emit, cause)
    throw error
  }
}

/**
 * When an export fails, its status has already been sent. So the connection is reset: the last chunk is missing, and without
 * chunks (HTTP/1.0) an orderly close would make the truncated body look complete.
 */
function abort(request: FastifyRequest, emit: EmitEvent, failure: Failure): void {
  Object.assign(contextOf(request), { code: failure.code, detail: failure.message })
  emit({
    kind: 'export-truncated',
    requestId: request.id,
    code: failure.code,
    cause: failure.cause ?? failure,
  })
  request.raw.socket.resetAndDestroy()
}

function shuttingDown(): Failure {
  return new Failure('shutting_down', 'The service shut down before the export was complete. Retry it.')
}

/**
 * The media types of an export, in an extension. As further media types of the 200 response they break the list in generated
 * clients: orval returns the raw stream instead of the page, and the type of the page becomes a union with a string.
 */
export function exportContent(resource: Resource) {
  const record = exampleRecord(resource)
  const end = { $end: { count: 1, version: '5f1c20b7e6a4-7' } }
  const cell = (value: unknown) =>
    typeof value === 'string' && !/^\d{4}-/.test(value) ? `"${value}"` : String(value)
  const text = (description: string, example: string) => ({
    schema: { type: 'string', description },
    example,
  })
  const csv = (names: readonly string[]) =>
    `\uFEFF${names.join(',')}\r\n${Object.values(record).map(cell).join(',')}\r\n`
  return {
    'application/x-ndjson': text(
      'One record per line. `X-Total-Count` has the number of records, if it is known in advance. The last line is `{"$end":{"count":…,"version":…}}`; without it the export is truncated.',
      `${JSON.stringify(record)}\n${JSON.stringify(end)}\n`,
    ),
    'text/csv': text(
      'RFC 4180 in UTF-8 with a byte order mark and a header. Texts are exact: a batch of the same file changes nothing. ' +
        'After the body, the trailer `X-Record-Count` has the number of records.',
      csv(Object.keys(record)),
    ),
    'text/csv; form=spreadsheet': text(
      'CSV to open in a spreadsheet: a text that a spreadsheet would run as a formula, and the empty text, begin with ' +
        "`'`, and so does the name of every text column. A batch of the file restores the texts of these columns.",
      csv(resource.fields.map(markedName)),
    ),
  }
}
