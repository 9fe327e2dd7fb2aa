import type { Resource } from '../../catalog/resources.ts'
import { limits } from '../../limits/limits.ts'
import { writableFields } from '../../writes/record-values.ts'
import { batchPath } from '../paths.ts'
import { responseHeaders } from './parts.ts'
import { commonErrors, ref, resourceTag } from './paths.ts'
import { batchSamples } from './samples.ts'

const description = `The body is NDJSON or CSV with a header, also gzip, of any length. A row inserts the record with its \`id\`, or changes the fields that the row
has. In NDJSON \`{"$delete":5}\` deletes the record 5. The rows are written as they arrive, ${limits.batchRows} in each transaction, with the rules of \`quartermaster import\`. Rows
of one record take effect in their order.

The response streams a line for each rejected row. Its last line is \`{"$end":{…}}\` with the numbers of rows, or \`{"$error":{…}}\` with a problem document. Without
\`$end\`, send the batch again: rows that were written are then unchanged, unless someone else has changed the record in the meantime; the row then overwrites that change. Read the response while you send, because the service does not read rows while results are waiting.

Ids below 4294967296 are either yours or assigned by the service: the first rows with ids decide, and \`$end\` then has \`"idsNow":"external"\`. If the service
assigns them, only \`mode=update\` may change or delete its records. An id that the service assigned is never used again. A row may create a record with an id of yours that was deleted.

An error before anything is written is a normal error response.`

export function batchPaths(resource: Resource): Record<string, unknown> {
  const { name } = resource
  return {
    [batchPath(resource)]: {
      post: {
        operationId: `batch_${resource.plural}`,
        tags: [resourceTag(resource)],
        summary: `Upsert and delete many ${resource.plural}`,
        'x-codeSamples': batchSamples(resource, rowsOf(resource)),
        description: `Needs the scope \`${name}:write\`. ${description}`,
        parameters: [
          {
            name: 'mode',
            in: 'query',
            description:
              '`upsert`: the ids are those of your system. `update`: the ids were read here; a row with an unknown id is rejected.',
            schema: { type: 'string', enum: ['upsert', 'update'], default: 'upsert' },
            example: 'upsert',
          },
        ],
        requestBody: {
          required: true,
          content: {
            'application/x-ndjson': { schema: { type: 'string' }, example: ndjsonOf(resource) },
            'text/csv': { schema: { type: 'string' }, example: csvOf(resource) },
          },
        },
        responses: {
          '200': {
            description: 'A line for each rejected row, and the totals.',
            headers: responseHeaders,
            content: {
              'application/x-ndjson': { schema: { type: 'string' }, example: resultExample },
            },
          },
          '400': ref('responses', 'invalid'),
          ...commonErrors,
          '415': ref('responses', 'encodingUnsupported'),
        },
      },
    },
  }
}

const resultExample =
  '{"line":17,"id":4,"field":"name","reason":"has 600 characters; at most 512 are allowed","value":"Hex bolt…"}\n' +
  '{"$end":{"read":1000,"inserted":990,"updated":9,"unchanged":0,"deleted":0,"rejected":1}}\n'

function rowsOf(resource: Resource): Record<string, unknown>[] {
  const required = writableFields(resource).filter(({ absent }) => absent === 'required')
  const fields = Object.fromEntries(required.map((field) => [field.name, field.example]))
  return [1, 2].map((id) => ({ id: id + 1_000_000, ...fields }))
}

function ndjsonOf(resource: Resource): string {
  const rows: object[] = [...rowsOf(resource), { $delete: 2_000_000 }]
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

function csvOf(resource: Resource): string {
  const rows = rowsOf(resource)
  const lines = rows.map((row) => Object.values(row).map((cell) => JSON.stringify(cell)))
  return [Object.keys(rows[0] ?? {}), ...lines].map((cells) => `${cells.join(',')}\r\n`).join('')
}
