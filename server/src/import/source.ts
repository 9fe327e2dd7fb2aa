import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { ImportError } from './columns.ts'

export type ImportFormat = 'csv' | 'ndjson'

/** A file that is read from start to end, once. */
export interface Source {
  readonly name: string
  readonly format: ImportFormat
  /** Its size on disk; unknown for standard input. */
  readonly bytesAll: number | undefined
  /** How many of them were read, before unpacking. */
  bytesRead(): number
  /** Unpacked, and valid UTF-8. */
  readonly bytes: AsyncIterable<Buffer>
}

const endings: Record<string, ImportFormat> = { csv: 'csv', ndjson: 'ndjson', jsonl: 'ndjson' }

export async function openSource(
  file: string,
  format: ImportFormat | undefined,
  stdin: Readable,
): Promise<Source> {
  const found = format ?? formatOf(file)
  const bytesAll = file === '-' ? undefined : await sizeOf(file)
  const input = file === '-' ? stdin : createReadStream(file, { highWaterMark: 64 * 1024 })
  let read = 0
  const counted = async function* () {
    for await (const piece of input as AsyncIterable<Buffer>) {
      read += piece.length
      yield piece
    }
  }
  const name = file === '-' ? 'standard input' : file
  return { name, format: found, bytesAll, bytesRead: () => read, bytes: utf8Only(unpacked(counted())) }
}

function formatOf(file: string): ImportFormat {
  if (file === '-') throw new ImportError('Say what standard input holds: --format csv or --format ndjson.')
  const ending = file.toLowerCase().replace(/\.gz$/, '').split('.').at(-1) ?? ''
  const format = endings[ending]
  if (format !== undefined) return format
  throw new ImportError(
    `The name ${file} does not tell its format: it should end in .csv, .ndjson or .jsonl (and .gz), or say --format.`,
  )
}

async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file)
    if (found.isDirectory()) throw new ImportError(`${file} is a folder. Name the file to import.`)
    return found.size
  } catch (error) {
    if (error instanceof ImportError) throw error
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const reason = missing ? 'there is no such file' : error instanceof Error ? error.message : String(error)
    throw new ImportError(`${file} cannot be read: ${reason}.`, { cause: error })
  }
}

/** Told by its first two bytes, whatever the name says. */
async function* unpacked(pieces: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const first = await pieces.next()
  if (first.done === true) return
  const all = async function* () {
    yield first.value
    yield* pieces
  }
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) {
    yield* all()
    return
  }
  try {
    // pipeline ends the one with the error of the other, which pipe does not.
    yield* pipeline(
      Readable.from(all()),
      createGunzip({ chunkSize: 64 * 1024 }),
      () => {},
    ) as AsyncIterable<Buffer>
  } catch (error) {
    const isZlib = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
    throw isZlib ? new ImportError('The gzip file is damaged or cut off.', { cause: error }) : error
  }
}

/** Anything else would be stored as question marks, or worse. */
async function* utf8Only(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let before = 0
  const check = (piece?: Buffer) => {
    try {
      decoder.decode(piece, { stream: piece !== undefined })
    } catch (error) {
      throw new ImportError(
        `The file is not UTF-8 somewhere after byte ${before}. Convert it first, for example with: iconv -t UTF-8`,
        { cause: error },
      )
    }
  }
  for await (const piece of pieces) {
    check(piece)
    yield piece
    before += piece.length
  }
  check()
}
