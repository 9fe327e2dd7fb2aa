import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { ImportError } from '../../import/columns.ts'
import { decode, type ImportFormat } from '../../import/decode.ts'

/** The file or standard input of an import, which is read once, from start to end. */
export interface ImportInput {
  readonly format: ImportFormat
  /** The size on disk; undefined for standard input. */
  readonly bytesTotal: number | undefined
  /** Bytes read so far, before decompression. */
  bytesRead(): number
  /** Decompressed UTF-8. */
  readonly bytes: AsyncIterable<Buffer>
}

const extensions: Record<string, ImportFormat> = { csv: 'csv', ndjson: 'ndjson', jsonl: 'ndjson' }

export async function openInput(
  file: string,
  format: ImportFormat | undefined,
  stdin: Readable,
): Promise<ImportInput> {
  const detected = format ?? formatOf(file)
  const bytesTotal = file === '-' ? undefined : await sizeOf(file)
  const stream = file === '-' ? stdin : createReadStream(file, { highWaterMark: 64 * 1024 })
  let read = 0
  const counted = async function* () {
    for await (const buffer of stream as AsyncIterable<Buffer>) {
      read += buffer.length
      yield buffer
    }
  }
  return { format: detected, bytesTotal, bytesRead: () => read, bytes: decode(counted()) }
}

function formatOf(file: string): ImportFormat {
  if (file === '-') {
    throw new ImportError('The format of standard input is not set. Pass --format csv or --format ndjson.')
  }
  const extension = file.toLowerCase().replace(/\.gz$/, '').split('.').at(-1) ?? ''
  const format = extensions[extension]
  if (format !== undefined) return format
  throw new ImportError(
    `The format of ${file} is unknown. Its name must end in .csv, .ndjson or .jsonl (optionally .gz); otherwise pass --format.`,
  )
}

async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file)
    if (found.isDirectory()) throw new ImportError(`${file} is a directory. Pass the file to import.`)
    return found.size
  } catch (error) {
    if (error instanceof ImportError) throw error
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const reason = missing
      ? 'the file does not exist'
      : error instanceof Error
        ? error.message
        : String(error)
    throw new ImportError(`${file} cannot be read: ${reason}.`, { cause: error })
  }
}
