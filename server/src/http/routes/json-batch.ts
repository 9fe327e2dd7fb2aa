import type { FastifyReply, FastifyRequest } from 'fastify'
import { jsonRows } from '../../batches/json-rows.ts'
import { rejectedRows } from '../../batches/result-lines.ts'
import { etagField } from '../../catalog/field.ts'
import type { Resource } from '../../catalog/resources.ts'
import { type BatchWriter, noTotals, writeRows } from '../../import/import-rows.ts'
import { type RowFault, rowCodes } from '../../import/row.ts'
import type { RowResource } from '../../import/row-resource.ts'
import { limits } from '../../limits/limits.ts'
import { json, jsonResponse } from '../openapi/parts.ts'
import { bodySchema, propertiesOf, ref, responseSchema, type Schema, schemaName } from '../openapi/schemas.ts'
import { contextOf } from '../plugins/request-context.ts'
import { sendUncached } from '../respond.ts'
import { bodyProperties } from './create.ts'

/** A batch as one JSON object: its response is one as well, sent after its only transaction. */
export interface JsonBatch {
  readonly resource: RowResource
  readonly body: AsyncGenerator<Buffer>
  readonly isGzipped: boolean
  readonly nextSlice: () => Promise<void>
}

export async function jsonBatch(
  request: FastifyRequest,
  reply: FastifyReply,
  writer: BatchWriter,
  { resource, body, ...format }: JsonBatch,
): Promise<FastifyReply> {
  const chunks = await jsonRows(resource, body, format)
  const totals = noTotals()
  const faults: RowFault[] = []
  const rows = {
    resource,
    chunks: inOrder(chunks),
    totals,
    onFaults: (found: readonly RowFault[]) => void faults.push(...found),
  }
  await writeRows(writer, rows, () => limits.batchRows)
  contextOf(request).records = totals.inserted + totals.updated + totals.deleted
  return sendUncached(
    reply,
    `{"data":{"totals":${JSON.stringify(totals)},"rejected":${rejectedRows(faults)}}}`,
  )
}

async function* inOrder<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

export function jsonBatchBody(resource: Resource, rows: readonly object[]) {
  return json(ref('schemas', `${schemaName(resource)}Batch`), { rows: [...rows, { $delete: 2_000_000 }] })
}

const example = {
  totals: { read: 3, inserted: 2, updated: 0, unchanged: 1, deleted: 0, rejected: 0 },
  rejected: [],
}

export const jsonBatchResponse = jsonResponse('The totals, and the rejected rows.', 'BatchResponse', {
  data: example,
})

const count = { type: 'integer', minimum: 0 }
const text: Schema = { type: 'string' }

export function jsonBatchSchemas(resource: Resource): Record<string, Schema> {
  const name = schemaName(resource)
  const { noun, fields } = resource
  const [id] = fields
  return {
    [`${name}Batch`]: {
      ...bodySchema(
        `Batch of ${resource.plural}`,
        { rows: { type: 'array', maxItems: limits.batchRows, items: ref('schemas', `${name}Row`) } },
        ['rows'],
      ),
    },
    [`${name}Row`]: {
      ...bodySchema(`Row of a batch of ${resource.plural}`, {
        ...propertiesOf(fields),
        ...bodyProperties(resource),
        $if_match: {
          type: 'string',
          description: `The \`etag\` that the ${noun} must still have.`,
          examples: [etagField.example],
        },
        $delete: {
          description: `The ${noun} to delete: its id, or with \`key\` an object with its unique field.`,
          oneOf: [
            propertiesOf(id === undefined ? [] : [id])['id'] ?? {},
            { type: 'object', additionalProperties: true, minProperties: 1, maxProperties: 1 },
          ],
        },
      }),
      description: `Inserts the ${noun} with this \`id\`, or changes the fields that the row has; or deletes one by \`$delete\`. Every row has one of both; with \`key\`, the unique field instead of the \`id\`.`,
    },
    ...resultSchemas,
  }
}

const faultProperties: Record<string, Schema> = {
  field: { ...text, description: 'Empty if the fault is not in a single field.' },
  reason: text,
  value: { ...text, description: 'The beginning of the value.' },
  code: {
    ...text,
    enum: rowCodes,
    description:
      'If the row is valid, but cannot be written: its condition failed, its record exists already (`mode=insert`), or another record has one of its unique values.',
  },
}

const resultSchemas: Record<string, Schema> = {
  BatchResponse: responseSchema('Batch response', ref('schemas', 'BatchResult')),
  BatchResult: {
    type: 'object',
    title: 'Result of a batch',
    required: ['totals', 'rejected'],
    properties: {
      totals: ref('schemas', 'BatchTotals'),
      rejected: { type: 'array', items: ref('schemas', 'RejectedRow') },
    },
  },
  BatchTotals: {
    type: 'object',
    title: 'Numbers of rows',
    description: '`read` is the sum of the others.',
    required: ['read', 'inserted', 'updated', 'unchanged', 'deleted', 'rejected'],
    properties: {
      read: count,
      inserted: count,
      updated: count,
      unchanged: count,
      deleted: count,
      rejected: count,
      idsNow: { type: 'string', enum: ['external'], description: 'From now on, your system assigns ids.' },
    },
  },
  RejectedRow: {
    type: 'object',
    title: 'Rejected row',
    required: ['index', 'field', 'reason', 'value'],
    properties: {
      index: { ...count, description: 'The position in `rows`, from 0.' },
      id: { type: 'integer', format: 'int64', description: 'Of the record, if it is known.' },
      key: { ...text, description: 'The value of the unique field that names the record.' },
      ...faultProperties,
      more: { type: 'array', items: ref('schemas', 'RowFault'), description: 'Further faults of the row.' },
    },
  },
  RowFault: {
    type: 'object',
    title: 'Fault of a row',
    required: ['field', 'reason', 'value'],
    properties: faultProperties,
  },
}
