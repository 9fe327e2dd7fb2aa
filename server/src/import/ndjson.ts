import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits.ts'
import { JsonNumber } from './cell.ts'
import { checkMembers, ImportError } from './columns.ts'
import { ChunkBuilder, type RowChunk } from './row.ts'

/** The rows of a file with one JSON object a line, a piece of the file at a time. */
export async function* ndjsonRows(
  resource: Resource,
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<RowChunk> {
  const decoder = new TextDecoder()
  let rest = ''
  let line = 0
  let objects = 0
  const add = (chunk: ChunkBuilder, text: string) => {
    line += 1
    if (text.trim() === '') return
    const members = parsed(text)
    if (members === undefined) {
      chunk.refuse([{ line, field: '', reason: 'is not a JSON object', value: text }])
      return
    }
    if ('$end' in members) {
      if (objects !== countOf(members.$end)) throw new ImportError(notWhole(line))
      return
    }
    objects += 1
    if (objects === 1) checkMembers(resource, members)
    chunk.addObject(line, members)
  }
  for await (const piece of bytes) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > limits.importLineBytesMax) {
      throw new ImportError(
        `Line ${line + lines.length + 1} is longer than ${limits.importLineBytesMax} bytes.`,
      )
    }
    const chunk = new ChunkBuilder(resource)
    for (const text of lines) add(chunk, text)
    yield chunk
  }
  const chunk = new ChunkBuilder(resource)
  add(chunk, rest + decoder.decode())
  yield chunk
}

/** An export ends with a line that has the number of its records. */
function countOf(mark: unknown): number | undefined {
  const count = typeof mark === 'object' && mark !== null && 'count' in mark ? mark.count : undefined
  return count instanceof JsonNumber ? Number(count.source) : undefined
}

function notWhole(line: number): string {
  return `The mark at the end of the export, in line ${line}, has another number of records than stand before it: the file is not whole.`
}

/** The third argument is newer than TypeScript's library: what stood in the text. */
function keepNumbers(_key: string, value: unknown, context?: { readonly source: string }): unknown {
  return typeof value === 'number' ? new JsonNumber(context?.source ?? String(value)) : value
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text, keepNumbers)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject && !(value instanceof JsonNumber) ? value : undefined
  } catch {
    return undefined
  }
}
