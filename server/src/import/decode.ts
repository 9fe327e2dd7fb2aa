import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { ImportError } from './columns.ts'

export type ImportFormat = 'csv' | 'ndjson'

/** Decompresses gzip, which is detected by its first two bytes, and checks that the result is UTF-8. */
export function decode(input: AsyncGenerator<Buffer>): AsyncIterable<Buffer> {
  return utf8Only(decompress(input))
}

async function* decompress(input: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const first = await input.next()
  if (first.done === true) return
  const all = async function* () {
    yield first.value
    yield* input
  }
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) {
    yield* all()
    return
  }
  try {
    // Unlike pipe, pipeline forwards an error of the input.
    yield* pipeline(
      Readable.from(all()),
      createGunzip({ chunkSize: 64 * 1024 }),
      () => {},
    ) as AsyncIterable<Buffer>
  } catch (error) {
    const isZlib = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
    throw isZlib ? new ImportError('The gzip file is damaged or truncated.', { cause: error }) : error
  }
}

/** Other encodings are rejected, because their characters would be stored as U+FFFD. */
async function* utf8Only(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let bytesBefore = 0
  const check = (buffer?: Buffer) => {
    try {
      decoder.decode(buffer, { stream: buffer !== undefined })
    } catch (error) {
      throw new ImportError(
        `The file is not UTF-8 somewhere after byte ${bytesBefore}. Convert it first, for example with: iconv -t UTF-8`,
        { cause: error },
      )
    }
  }
  for await (const buffer of input) {
    check(buffer)
    yield buffer
    bytesBefore += buffer.length
  }
  check()
}
