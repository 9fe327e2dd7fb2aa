import { Failure, type Fault, invalid } from '../errors/errors.ts'
import { excerpt, Faults } from '../errors/faults.ts'
import { decode } from '../import/decode.ts'
import { NdjsonLines } from '../import/ndjson.ts'
import { ChunkBuilder, type RowChunk } from '../import/row.ts'
import type { RowResource } from '../import/row-resource.ts'
import { limits } from '../limits/limits.ts'
import { RowsScanner } from './rows-scanner.ts'

export interface JsonBatchFormat {
  readonly isGzipped: boolean
  /** Resolves when the next slice of the body may be parsed. */
  readonly nextSlice: () => Promise<void>
}

/**
 * The rows of `{"rows":[…]}`, by the rules of NDJSON: the line of a row is its position, from 1. The body is scanned in linear time, and
 * only rows without arrays and objects are parsed. Throws if the body is malformed, or has rows but no valid one.
 */
export async function jsonRows(
  resource: RowResource,
  body: AsyncGenerator<Buffer>,
  { isGzipped, nextSlice }: JsonBatchFormat,
): Promise<readonly RowChunk[]> {
  const scanner = new RowsScanner(await textOf(body, isGzipped))
  const lines = new NdjsonLines(resource, (row) => scanner.malformed(`in row ${row - 1}`))
  const chunks: RowChunk[] = []
  let pauseAt = performance.now() + limits.batchSliceMs
  let chunk = new ChunkBuilder(resource)
  for (let row = scanner.next(); row !== undefined; row = scanner.next()) {
    if (lines.read >= limits.batchRows) throw tooManyRows()
    lines.add(chunk, row)
    if (performance.now() < pauseAt) continue
    chunks.push(chunk)
    chunk = new ChunkBuilder(resource)
    await nextSlice()
    pauseAt = performance.now() + limits.batchSliceMs
  }
  chunks.push(chunk)
  if (lines.read > 0 && chunks.every(({ rows }) => rows.length === 0)) throw noValidRow(chunks)
  return chunks
}

async function textOf(body: AsyncGenerator<Buffer>, isGzipped: boolean): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of decode(checkedGzip(body, isGzipped))) {
    bytes += part.length
    if (bytes > limits.batchJsonBytesMax) throw tooLarge()
    parts.push(part)
  }
  return new TextDecoder().decode(Buffer.concat(parts))
}

async function* checkedGzip(body: AsyncGenerator<Buffer>, isGzipped: boolean): AsyncGenerator<Buffer> {
  let isFirst = true
  for await (const part of body) {
    if (isFirst && isGzipped !== (part[0] === 0x1f)) {
      const message = isGzipped
        ? 'The body is not gzip.'
        : 'The body is not JSON: syntax error at character 0.'
      throw invalid({ pointer: '', code: 'json_invalid', message }, 'body_invalid')
    }
    isFirst = false
    yield part
  }
}

function tooLarge(): Failure {
  return new Failure(
    'body_too_large',
    `A batch as application/json has at most ${limits.batchJsonBytesMax} bytes. Send it in several requests, or as application/x-ndjson, which has no maximum.`,
  )
}

function tooManyRows(): Failure {
  const message = `A batch as application/json has at most ${limits.batchRows} rows. Send the others in further requests, or all as application/x-ndjson. Nothing was written.`
  return invalid({ pointer: '/rows', code: 'member_invalid', message }, 'body_invalid')
}

/** One error for all: a program that sends a single row need not look into the results. */
function noValidRow(chunks: readonly RowChunk[]): Failure {
  const faults = new Faults()
  for (const { line, field, reason } of chunks.flatMap((chunk) => chunk.faults)) {
    const name = field === '' ? '' : `/${excerpt(field).replaceAll('~', '~0').replaceAll('/', '~1')}`
    const message = `Row ${line - 1}: ${excerpt(field)}${field === '' ? '' : ' '}${reason}.`
    faults.add((): Fault => ({ pointer: `/rows/${line - 1}${name}`, code: 'member_invalid', message }))
  }
  const [first] = faults.listed
  return new Failure(
    'body_invalid',
    `No row is valid, so nothing was written. ${first?.message ?? ''}`,
    faults.listed,
  )
}
