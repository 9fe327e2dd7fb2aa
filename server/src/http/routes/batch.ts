import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { BatchClient } from '../../batches/batch-client.ts'
import { batchRows } from '../../batches/batch-input.ts'
import { endLine, resultLines } from '../../batches/result-lines.ts'
import { keyFieldsOf } from '../../catalog/own-fields.ts'
import type { Resource } from '../../catalog/resources.ts'
import { clientDisconnected, Failure, internalError, invalid } from '../../errors/errors.ts'
import { ImportError } from '../../import/columns.ts'
import type { ImportFormat } from '../../import/decode.ts'
import { type ImportTotals, noTotals, writeRows } from '../../import/import-rows.ts'
import type { RowResource } from '../../import/row-resource.ts'
import { limits } from '../../limits/limits.ts'
import type { EmitEvent } from '../../observability/events.ts'
import { parseBatchRequest } from '../../query/list-request.ts'
import { endReceiveTimeout, leaveFlow } from '../http-server.ts'
import { resourceTag, respondsWith } from '../openapi/parts.ts'
import { curl, literalOf, typescript } from '../openapi/samples.ts'
import { batchPath } from '../paths.ts'
import { accessAndSchema } from '../plugins/authenticate.ts'
import { actorOf, clientSignal, contextOf, rawQueryOf } from '../plugins/request-context.ts'
import { problemBody } from '../problem.ts'
import { acceptedBody, contentTypeFailure } from '../request/body.ts'
import { closeAfterResponse, reportDefect } from '../respond.ts'
import { exampleOf } from './create.ts'
import { jsonBatch, jsonBatchBody, jsonBatchResponse, jsonBatchSchemas } from './json-batch.ts'
import { readyKey } from './record-address.ts'
import type { Handler, Route, RouteParts } from './route.ts'

const formats: Readonly<Record<string, ImportFormat | 'json'>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'text/csv': 'csv',
}

/** `POST …/batch`: upserts and deletes the rows of the body as it arrives, and streams a line for each rejected row. */
export function batchRoute(resource: Resource): Route {
  const { name, plural } = resource
  const path = batchPath(resource)
  const rows = [1, 2].map((id) => ({ id: id + 1_000_000, ...exampleOf(resource) }))
  return {
    methods: ['POST'],
    path,
    scopes: [`${name}:write`],
    resource: name,
    bodies: ['application/json', 'application/x-ndjson', 'text/csv'],
    bodyBytesMax: limits.batchJsonBytesMax,
    acceptsGzip: true,
    streamsBody: true,
    operation: {
      operationId: `batch_${plural}`,
      tag: resourceTag(resource),
      summary: `Upsert and delete many ${plural}`,
      samples: [
        curl(
          '',
          path,
          "-H 'Content-Type: application/x-ndjson'",
          `--data-binary $'${rows.map((row) => JSON.stringify(row)).join('\\n')}'`,
        ),
        typescript(
          `const totals = await qm.${plural}.upsert([`,
          ...rows.map((row) => `  ${literalOf(row)},`),
          '])',
          'console.log(totals)',
        ),
      ],
      description,
      parameters,
      extension: streamedContent(rows),
      body: jsonBatchBody(resource, rows),
      responses: {
        '200': jsonBatchResponse,
        ...respondsWith('invalid', 'tooLarge'),
      },
      schemas: jsonBatchSchemas(resource),
    },
    handler: (parts) => batchHandler(parts, resource),
  }
}

const parameters = [
  {
    name: 'mode',
    in: 'query',
    description:
      '`upsert`: rows change records or insert them; ids are those of your system. `update`: rows only change records; the ids were read here. `insert`: rows only insert records.',
    schema: { type: 'string', enum: ['upsert', 'update', 'insert'], default: 'upsert' },
    example: 'upsert',
  },
  {
    name: 'key',
    in: 'query',
    description:
      'The unique field by which rows name their records, instead of the id: `x_sku`. The service assigns the ids of the records that rows insert.',
    schema: { type: 'string' },
  },
] as const

const description = `The body is \`{"rows":[…]}\` as \`application/json\`, with up to ${limits.batchRows} rows. They are written in one transaction, and the response is one JSON object with the totals and the
rejected rows. If no row is valid, it is 400.

To send any number of rows, stream them as NDJSON (\`application/x-ndjson\`) or as CSV with a header (\`text/csv\`), also gzip. A row inserts the record with its \`id\`, or changes the fields that the row
has. \`{"$delete":5}\` deletes the record 5, except in CSV. Streamed rows are written as they arrive, up to ${limits.batchRows} in each transaction, with the rules of \`quartermaster import\`. Rows
of one record take effect in their order. A row with \`"$if_match"\`, the \`etag\` of its record, is written only if the record still has it; otherwise it is rejected with the code \`changed\`.

The response to a stream has a line for each rejected row. Its last line is \`{"$end":{…}}\` with the numbers of rows, or \`{"$error":{…}}\` with a problem document. Without
\`$end\`, send the batch again: rows that were written are then unchanged, unless someone else has changed the record in the meantime; the row then overwrites that change. Read the response while you send, because the service does not read rows while results are waiting.

Ids below 4294967296 are either yours or assigned by the service: the first rows with ids decide, and \`$end\` then has \`"idsNow":"external"\`. If the service
assigns them, only \`mode=update\` may change or delete its records. An id that the service assigned is never used again. A row may create a record with an id of yours that was deleted.

With \`key=x_sku\`, rows have that unique field instead of an id, and \`{"$delete":{"x_sku":"4711"}}\` deletes a record. A row whose value no record has inserts one, with an id that the service assigns. So the batch can
be repeated, and needs no table of ids. A row with a unique value of another record is rejected with the code \`key_taken\`.

An error before anything is written is a normal error response.`

const resultExample =
  '{"line":17,"id":4,"field":"name","reason":"has 600 characters; at most 512 are allowed","value":"Hex bolt…"}\n' +
  '{"$end":{"read":1000,"inserted":990,"updated":9,"unchanged":0,"deleted":0,"rejected":1}}\n'

/**
 * The media types of a streamed batch, in extensions. As further media types of the body and of the 200 response they break the JSON batch
 * in generated clients: orval sends the body without a Content-Type and returns the raw stream, and in openapi-fetch both become a union with a string.
 */
function streamedContent(rows: readonly object[]) {
  const text = (meaning: string, example: string) => ({
    schema: { type: 'string', description: meaning },
    example,
  })
  return {
    'x-stream-body': {
      'application/x-ndjson': text('One row per line.', ndjsonOf(rows)),
      'text/csv': text('A header, and one row per line.', csvOf(rows)),
    },
    'x-stream-response': {
      'application/x-ndjson': text('A line for each rejected row, and one with the totals.', resultExample),
    },
  }
}

function ndjsonOf(rows: readonly object[]): string {
  return [...rows, { $delete: 2_000_000 }].map((row) => `${JSON.stringify(row)}\n`).join('')
}

function csvOf(rows: readonly object[]): string {
  const lines = rows.map((row) => Object.values(row).map((cell) => JSON.stringify(cell)))
  return [Object.keys(rows[0] ?? {}), ...lines].map((cells) => `${cells.join(',')}\r\n`).join('')
}

function batchHandler(parts: RouteParts, route: Resource): Handler {
  const { authentication, batches, definitions, shares, emit, limits: injected } = parts
  return async (request, reply) => {
    const { access: scope, schema } = accessAndSchema(request)
    const { mode, key } = parseBatchRequest(rawQueryOf(request))
    const found = definitions.of(scope, route, schema)
    const resource = rowResource(found instanceof Promise ? await found : found, key)
    const author = scope.keyId
    const actor = actorOf(request, scope, authentication.trustedProxies)
    const format = formatOf(request)
    const isGzipped = request.headers['content-encoding'] === 'gzip'
    const atEnd = resultsAtEnd(request)
    const signal = clientSignal(reply)
    leaveFlow(reply.raw)
    const seat = await batches.acquire(scope, signal)
    const client = new BatchClient(injected)
    seat.holder = client
    endReceiveTimeout(reply.raw)
    const results = new Results(client, signal, atEnd)
    const totals = noTotals()
    const body = client.received(request.raw.iterator({ destroyOnReturn: false }))
    const nextSlice = () => shares.next(scope.accountId)
    if (format === 'json') {
      const all = { resource, scope, body, isGzipped, nextSlice }
      const writer = batches.writer(scope, resource, { recordsMax: scope.recordsMax, mode, author, actor })
      return await jsonBatch(request, reply, writer, all)
        .catch((error: unknown) => {
          if (!request.raw.complete) closeAfterResponse(reply)
          throw failureOfBatch(error, signal)
        })
        .finally(() => seat.release())
    }
    const running = writeRows(
      results.startingWith(
        batches.writer(scope, resource, { recordsMax: scope.recordsMax, mode, author, actor }),
      ),
      {
        resource,
        chunks: batchRows(resource, body, { format, isGzipped, nextSlice }),
        totals,
        rejectedMax: limits.batchRejectedRowsMax,
        onFaults: (faults) => results.write(resultLines(faults)),
      },
      () => batches.transactionRows,
    ).finally(() => seat.release())
    try {
      await Promise.race([running, results.started])
    } catch (error) {
      if (!request.raw.complete) closeAfterResponse(reply)
      throw failureOfBatch(error, signal)
    }
    // `finish` reports how it ended.
    if (atEnd) await running.catch(() => {})
    // Node would send the headers with the first line, which may come much later. A client may wait for them.
    reply.raw.once('pipe', () => reply.raw.flushHeaders())
    void finish(running, results, totals, { request, reply, emit, signal })
    return reply.header('cache-control', 'no-store').type('application/x-ndjson').send(results.stream)
  }
}

/** `key`: the unique field by which the rows name their records. */
function rowResource(resource: Resource, key: string | undefined): RowResource {
  if (key === undefined) return resource
  const unknown = (message: string) =>
    invalid({
      parameter: 'key',
      code: 'field_unknown',
      message,
      expected: keyFieldsOf(resource).map(({ name }) => name),
    })
  return { ...resource, rowKey: readyKey(resource, key, unknown) }
}

interface BatchResponse {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly emit: EmitEvent
  readonly signal: AbortSignal
}

/** Ends the response with the totals, or with the error that ended the batch. */
async function finish(
  running: Promise<void>,
  results: Results,
  totals: ImportTotals,
  { request, reply, emit, signal }: BatchResponse,
): Promise<void> {
  const context = contextOf(request)
  try {
    await running
    context.records = totals.inserted + totals.updated + totals.deleted
    results.stream.end(endLine(totals))
  } catch (error) {
    const failure = failureOfBatch(error, signal)
    Object.assign(context, { code: failure.code, detail: failure.message })
    reportDefect(emit, request, failure)
    if (!request.raw.complete) closeAfterResponse(reply)
    results.stream.end(`{"$error":${problemBody(failure, request.id)}}\n`)
  }
}

/** The lines of the response. A client that does not read them is not sent more, and none of its rows are read. */
class Results {
  readonly stream = new PassThrough()
  /** Resolves when something was written to the database or to the response: from then on the status is 200. */
  readonly started: Promise<void>
  #start: () => void = () => {}
  readonly #client: BatchClient
  readonly #signal: AbortSignal
  readonly #atEnd: boolean
  #bytes = 0

  constructor(client: BatchClient, signal: AbortSignal, atEnd: boolean) {
    this.#client = client
    this.#signal = signal
    this.#atEnd = atEnd
    this.started = new Promise((resolve) => {
      this.#start = resolve
    })
    // The client has disconnected. `signal` reports it.
    this.stream.on('error', () => {})
  }

  async write(lines: string): Promise<void> {
    this.#start()
    if (this.#signal.aborted) throw clientDisconnected()
    this.#bytes += lines.length
    if (this.#atEnd && this.#bytes > limits.batchHeldBytesMax) throw tooManyRejected()
    if (this.stream.write(lines) || this.#atEnd) return
    const drained = once(this.stream, 'drain', { signal: this.#signal })
    await this.#client.waitFor(drained, () => lines.length)
  }

  startingWith(writer: Parameters<typeof writeRows>[0]): Parameters<typeof writeRows>[0] {
    return {
      write: async (parts) => {
        const outcome = await writer.write(parts)
        this.#start()
        return outcome
      },
    }
  }
}

/**
 * nginx sends no more of a request's body once it has received the headers of the response, so that a batch of more than a few slices
 * would stop there. Its configuration sets this header.
 */
function resultsAtEnd({ headers }: FastifyRequest): boolean {
  const value = headers['batch-results']
  if (value === undefined) return false
  if (value === 'at-end') return true
  throw invalid({
    parameter: 'Batch-Results',
    code: 'header_invalid',
    message:
      'The only supported value of Batch-Results is at-end. Omit it to receive results while you send.',
    expected: ['at-end'],
  })
}

function tooManyRejected(): Failure {
  return new Failure(
    'rows_rejected',
    'Too many rows are rejected to hold their results until the end of the batch. Correct the rows, and send the batch again.',
  )
}

function formatOf(request: FastifyRequest): ImportFormat | 'json' {
  const body = acceptedBody(request)
  const format = body === undefined ? undefined : formats[body.type]
  const isHeaderless = (body?.parameters.get('header') ?? 'present') !== 'present'
  // The columns say which texts are in the form for spreadsheets. A parameter that said something else would be ignored.
  const hasForm = body?.parameters.has('form') === true
  if (format !== undefined && !isHeaderless && !hasForm) return format
  throw contentTypeFailure(request, formMessage(hasForm, isHeaderless))
}

function formMessage(hasForm: boolean, isHeaderless: boolean): string | undefined {
  if (hasForm) return 'Omit form: the column names say whether a CSV has the form for spreadsheets.'
  return isHeaderless ? 'A CSV must begin with a header: omit header=absent.' : undefined
}

/** Rows before the one with the error may have been written. */
function failureOfBatch(error: unknown, signal: AbortSignal): Failure {
  if (error instanceof Failure) return error
  if (error instanceof ImportError) return new Failure('body_invalid', error.message, error.faults, error)
  if (signal.aborted || isReset(error)) return clientDisconnected(error)
  return internalError(error)
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
}
