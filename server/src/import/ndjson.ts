import { typeNames } from '../catalog/field.ts'
import { limits } from '../limits/limits.ts'
import {
  isFlat,
  isJsonObject,
  type ObjectScan,
  parseExactJson,
  repeatedName,
  scanObject,
} from '../writes/exact-json.ts'
import { checkMembers, ImportError, ifMatchMember, rejectBlankLines, tooMany } from './columns.ts'
import { ChunkBuilder, type RowChunk } from './row.ts'
import type { RowResource } from './row-resource.ts'

/** Parses a file with one JSON object per line. Yields one chunk of rows for each buffer of input. */
export async function* ndjsonRows(
  resource: RowResource,
  input: AsyncIterable<Buffer>,
): AsyncGenerator<RowChunk> {
  const decoder = new TextDecoder()
  const lines = new NdjsonLines(resource)
  let incompleteLine = ''
  for await (const buffer of input) {
    const text = decoder.decode(buffer, { stream: true })
    const chunk = new ChunkBuilder(resource)
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      lines.add(chunk, incompleteLine + text.slice(start, end))
      incompleteLine = ''
      start = end + 1
    }
    // Only the new text is searched: a line of 1 MB may arrive in a thousand buffers.
    incompleteLine += text.slice(start)
    if (incompleteLine.length > limits.importLineBytesMax) {
      throw new ImportError(`Line ${lines.read + 1} is longer than ${limits.importLineBytesMax} bytes.`)
    }
    yield chunk
  }
  const chunk = new ChunkBuilder(resource)
  lines.add(chunk, incompleteLine + decoder.decode())
  yield chunk
}

/** The lines of one file, or the rows of a JSON array, in their order. */
export class NdjsonLines {
  readonly #resource: RowResource
  readonly #malformed: ((line: number) => Error) | undefined
  #read = 0
  #blank = 0
  #objects = 0
  #isChecked = false

  /** `malformed`: the error of a row that is not JSON; it ends an array. In a file, such a line is rejected. */
  constructor(resource: RowResource, malformed?: (line: number) => Error) {
    this.#resource = resource
    this.#malformed = malformed
  }

  get read(): number {
    return this.#read
  }

  add(chunk: ChunkBuilder, text: string): void {
    this.#read += 1
    const line = this.#read
    if (text.trim() === '') {
      this.#blank += 1
      rejectBlankLines(this.#blank)
      return
    }
    const scan = scanRow(text, this.#resource.fields.length)
    if (this.#malformed === undefined && scan?.names[0] === '$end') {
      this.#end(text, scan)
      return
    }
    const rejected = scan && this.#faultOf(scan, text)
    if (rejected !== undefined) {
      const isDelete = scan?.names[0] === '$delete'
      this.#objects += 1
      if (!isDelete) this.#checkFirst(scan?.names ?? [], scan?.isTooLong)
      const value = text.slice(scan?.nested?.offset ?? 0)
      chunk.rejectNames(line, scan?.names ?? [], { ...rejected, value })
      return
    }
    const members = scan && parsed(text)
    if (members === undefined) {
      if (this.#malformed !== undefined && (scan !== undefined || !isValue(text))) throw this.#malformed(line)
      chunk.reject([{ line, field: '', reason: 'is not a JSON object', value: text }])
      return
    }
    this.#objects += 1
    if ('$delete' in members) {
      chunk.addDelete(line, members)
      return
    }
    this.#checkFirst(Object.keys(members))
    chunk.addObject(line, members)
  }

  #checkFirst(names: readonly string[], isCut = false): void {
    if (!this.#isChecked) checkMembers(this.#resource, names, { isCut })
    this.#isChecked = true
  }

  /** Why the object is rejected without being parsed. */
  #faultOf(
    { names, nested, isTooLong }: ObjectScan,
    text: string,
  ): { field: string; reason: string } | undefined {
    if (nested !== undefined && !this.#isKeyedDelete(names, text.slice(nested.offset))) {
      const type = this.#resource.fields.find(({ name }) => name === nested.name)?.type
      const expected =
        nested.name === '$delete'
          ? this.#resource.rowKey === undefined
            ? 'an id'
            : `an object with ${this.#resource.rowKey.name}`
          : nested.name === ifMatchMember
            ? 'an ETag'
            : type === undefined
              ? 'a value'
              : typeNames[type]
      return { field: nested.name, reason: `is an array or an object, not ${expected}` }
    }
    const repeated = repeatedName(names)
    if (repeated !== undefined) return { field: repeated, reason: 'occurs more than once' }
    return isTooLong ? { field: '', reason: tooMany('it', 'members', this.#resource).slice(3) } : undefined
  }

  /** `{"x_sku":"4711"}` is the only object that a row may contain, so that a short text is parsed. */
  #isKeyedDelete(names: readonly string[], object: string): boolean {
    if (this.#resource.rowKey === undefined || names[0] !== '$delete') return false
    return object.length <= limits.importDeleteCharactersMax && isFlat(object, 1)
  }

  /** The last line of an export is `{"$end":{"count":…}}`, with the number of its records. */
  #end(text: string, { names }: ObjectScan): void {
    const isMarker = names.length === 1 && text.length <= limits.importEndCharactersMax
    const members = isMarker ? parsed(text, JSON.parse) : undefined
    const isAlone = members !== undefined && Object.keys(members).length === 1
    const end: unknown = isAlone ? Reflect.get(members, '$end') : undefined
    const count: unknown = isJsonObject(end) ? Reflect.get(end, 'count') : undefined
    if (count === this.#objects) return
    throw new ImportError(
      `The end marker in line ${this.#read} does not match the number of records before it: the file is incomplete.`,
    )
  }
}

/** Whether the text is JSON, or an array, which is not parsed: its brackets were counted. */
function isValue(text: string): boolean {
  if (text.startsWith('[')) return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A row may have `$if_match` in addition to the fields. */
function scanRow(text: string, fields: number): ObjectScan | undefined {
  const scan = scanObject(text, fields + 1)
  if (scan === undefined || scan.names.length <= fields || scan.names.includes(ifMatchMember)) return scan
  return { names: scan.names.slice(0, fields + 1), nested: undefined, isTooLong: true }
}

function parsed(text: string, parse: (text: string) => unknown = parseExactJson): object | undefined {
  try {
    const value = parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
