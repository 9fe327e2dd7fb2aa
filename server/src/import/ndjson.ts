import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import { JsonNumber, parseExactJson } from '../writes/json-number.ts'
import { checkMembers, ImportError } from './columns.ts'
import { ChunkBuilder, type RowChunk } from './row.ts'

/** Parses a file with one JSON object per line. Yields one chunk of rows for each buffer of input. */
export async function* ndjsonRows(
  resource: Resource,
  input: AsyncIterable<Buffer>,
): AsyncGenerator<RowChunk> {
  const decoder = new TextDecoder()
  let incompleteLine = ''
  let line = 0
  let objects = 0
  let isChecked = false
  const add = (chunk: ChunkBuilder, text: string) => {
    line += 1
    if (text.trim() === '') return
    const members = parseObject(text)
    if (members === undefined) {
      chunk.reject([{ line, field: '', reason: 'is not a JSON object', value: text }])
      return
    }
    if ('$end' in members) {
      if (objects !== countOf(members.$end)) throw new ImportError(countMismatch(line))
      return
    }
    objects += 1
    if ('$delete' in members) {
      chunk.addDelete(line, members)
      return
    }
    if (!isChecked) checkMembers(resource, members)
    isChecked = true
    chunk.addObject(line, members)
  }
  for await (const buffer of input) {
    const lines = (incompleteLine + decoder.decode(buffer, { stream: true })).split('\n')
    incompleteLine = lines.pop() ?? ''
    if (incompleteLine.length > limits.importLineBytesMax) {
      throw new ImportError(
        `Line ${line + lines.length + 1} is longer than ${limits.importLineBytesMax} bytes.`,
      )
    }
    const chunk = new ChunkBuilder(resource)
    for (const text of lines) add(chunk, text)
    yield chunk
  }
  const chunk = new ChunkBuilder(resource)
  add(chunk, incompleteLine + decoder.decode())
  yield chunk
}

/** The last line of an export is `{"$end":{"count":…}}`, with the number of its records. */
function countOf(end: unknown): number | undefined {
  const count = typeof end === 'object' && end !== null && 'count' in end ? end.count : undefined
  return count instanceof JsonNumber ? Number(count.source) : undefined
}

function countMismatch(line: number): string {
  return `The end marker in line ${line} does not match the number of records before it: the file is incomplete.`
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = parseExactJson(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject && !(value instanceof JsonNumber) ? value : undefined
  } catch {
    return undefined
  }
}
