import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Check } from '../accounts/checks.ts'
import { Failure } from '../errors.ts'
import { exportBody } from '../query/export-body.ts'
import { type ExportFormat, exportStatement } from '../query/export-statement.ts'
import type { PlannedExport } from '../query/planned.ts'
import type { Exports } from '../store/exports.ts'
import { type ListMemory, listName } from '../store/list-memory.ts'
import type { TallyState } from '../tally-state.ts'
import type { Tell } from '../telemetry/events.ts'
import { etagOf, knownEtag, sendNotModified, validators } from './answer.ts'
import { factsOf, timed } from './facts.ts'
import { hangUpOf } from './hang-up-of.ts'
import { takesGzip } from './media.ts'

export interface ExportParts {
  readonly exports: Exports
  readonly memory: ListMemory
  readonly tell: Tell
  /** Aborted when the process closes the connections of requests that are still under way. */
  readonly shutdown: AbortSignal
}

const mediaTypes: Record<ExportFormat, string> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present',
}

/** The fastest: 265 MB of products become 41 in 3 s; twice the time would save another 9. */
const zipLevel = 1

/** All records of a list as a stream. Whatever fails before the first of them is answered as an error, as anywhere. */
export async function sendExport(
  { exports, memory, tell, shutdown }: ExportParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { access, tally }: Check & { readonly tally: TallyState },
  { plan, filterKey, mark }: PlannedExport,
  format: ExportFormat,
): Promise<FastifyReply> {
  const isAny = request.headers['if-none-match'] === '*'
  const known = isAny ? etagOf(tally, mark) : knownEtag(request, tally, mark)
  if (known !== undefined) {
    factsOf(request).source = 'unchanged'
    return sendNotModified(reply, known)
  }
  const running = await exports.take(access, hangUpOf(reply))
  const cut = () => cutShort(request, tell, shutDown())
  shutdown.addEventListener('abort', cut)
  reply.raw.once('close', () => {
    shutdown.removeEventListener('abort', cut)
    running.end()
  })
  if (reply.raw.destroyed) running.end()
  const copy = exportStatement(access, plan, format)
  await timed(request, () => running.start(access, plan.resource.name, copy))
  const name = listName(access, plan.resource.name, filterKey)
  const total = plan.where === undefined ? running.total : memory.recall(name, running, 1, 1).total
  if (total !== undefined) reply.header('x-total-count', total)
  validators(reply, etagOf(running, mark)).type(mediaTypes[format])
  if (format === 'csv')
    reply.header('content-disposition', `attachment; filename="${plan.resource.plural}.csv"`)
  if (request.method === 'HEAD') {
    running.end()
    return reply.send()
  }
  let records = 0
  // A header to chunked bodies only: HTTP/1.0 has neither.
  if (request.raw.httpVersionMinor > 0) reply.trailer('x-record-count', async () => String(records))
  const body = Readable.from(
    cutAloud(
      exportBody(running, format, plan.fields, (count) => {
        records = count
        factsOf(request).records = count
      }),
      request,
      tell,
    ),
  )
  if (!takesGzip(request.headers['accept-encoding'])) return reply.send(body)
  reply.header('content-encoding', 'gzip')
  return reply.send(pipeline(body, createGzip({ level: zipLevel }), () => {}))
}

/** What fails on its way is cut, unless its reader went first: then that is the reason, and not to be told. */
async function* cutAloud(
  body: AsyncIterable<Buffer>,
  request: FastifyRequest,
  tell: Tell,
): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    const cause = error instanceof Failure ? error : new Failure('internal', 'The export broke.', [], error)
    if (!request.raw.socket.destroyed) cutShort(request, tell, cause)
    throw error
  }
}

/**
 * The status is sent long ago when an export fails on its way. So the connection is reset: no last chunk, and no orderly
 * end either, which a body without chunks would be taken to be whole by.
 */
function cutShort(request: FastifyRequest, tell: Tell, failure: Failure): void {
  Object.assign(factsOf(request), { code: failure.code, detail: failure.message })
  tell({ kind: 'export-cut', requestId: request.id, code: failure.code, cause: failure.cause ?? failure })
  request.raw.socket.resetAndDestroy()
}

function shutDown(): Failure {
  return new Failure(
    'shutting_down',
    'The service shut down before the export was finished. Ask for it again.',
  )
}
