import { ImportError } from '../import/columns.ts'
import { csvRows } from '../import/csv.ts'
import { decode, type ImportFormat } from '../import/decode.ts'
import { ndjsonRows } from '../import/ndjson.ts'
import type { RowChunk } from '../import/row.ts'
import type { RowResource } from '../import/row-resource.ts'
import { limits } from '../limits/limits.ts'

export interface BatchFormat {
  readonly format: ImportFormat
  readonly isGzipped: boolean
  /** Resolves when the next slice of the body may be parsed. */
  readonly nextSlice: () => Promise<void>
}

/** Parses the body of a batch as it arrives. */
export function batchRows(
  resource: RowResource,
  body: AsyncIterable<Buffer>,
  { format, isGzipped, nextSlice }: BatchFormat,
): AsyncGenerator<RowChunk> {
  let received = 0
  const counted = async function* () {
    for await (const buffer of body) {
      if (received === 0 && isGzipped && buffer[0] !== 0x1f) throw new ImportError('The body is not gzip.')
      received += buffer.length
      yield buffer
    }
  }
  const bytes = sliced(decode(counted()), nextSlice, (expanded) => {
    if (expanded <= limits.batchFreeBytes || expanded <= received * limits.batchExpansionMax) return
    throw new ImportError(
      `The body expands to more than ${limits.batchExpansionMax} times its compressed size. Send it with less compression.`,
    )
  })
  return format === 'csv' ? csvRows(resource, bytes) : ndjsonRows(resource, bytes)
}

/** Yields small pieces. Other requests are served whenever parsing them has taken a while, however short their lines are. */
async function* sliced(
  buffers: AsyncIterable<Buffer>,
  nextSlice: () => Promise<void>,
  check: (expanded: number) => void,
): AsyncGenerator<Buffer> {
  let expanded = 0
  let pauseAt = performance.now() + limits.batchSliceMs
  for await (const buffer of buffers) {
    expanded += buffer.length
    check(expanded)
    for (let start = 0; start < buffer.length; ) {
      if (performance.now() >= pauseAt) {
        await nextSlice()
        pauseAt = performance.now() + limits.batchSliceMs
      }
      const slice = sliceAt(buffer, start)
      yield slice
      start += slice.length
    }
  }
}

function sliceAt(buffer: Buffer, start: number): Buffer {
  const slice = buffer.subarray(start, start + limits.batchSliceBytes)
  let end = 0
  for (let lines = 0; lines < limits.batchSliceLines; lines++) {
    const lineFeed = slice.indexOf(10, end)
    if (lineFeed < 0) return slice
    end = lineFeed + 1
  }
  return slice.subarray(0, end)
}
