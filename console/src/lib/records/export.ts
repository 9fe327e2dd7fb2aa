import { type Problem, RequestFailed } from '../../api/exchange.ts'
import { newRequestId } from '../../api/request-id.ts'
import { currentKey } from '../../session.ts'
import { t } from '../../texts/texts.ts'

export type ExportFormat = 'csv' | 'ndjson'

export interface ExportProgress {
  readonly records: number
  readonly bytes: number
  readonly total: number | undefined
}

/** Without a file picker the export is collected in memory before it is saved. */
export const memoryBytesMax = 512 * 1024 * 1024

/** A person opens the CSV in a spreadsheet. */
const mediaTypes: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; form=spreadsheet',
  ndjson: 'application/x-ndjson',
}

interface ExportOptions {
  readonly url: string
  readonly format: ExportFormat
  readonly fileName: string
  readonly signal: AbortSignal
  readonly onProgress: (progress: ExportProgress) => void
}

interface Sink {
  write(chunk: Uint8Array<ArrayBuffer>): Promise<void>
  close(): Promise<void>
  abort(): Promise<void>
}

/** Streams an export into a file. Returns the number of records. Throws if it is incomplete. */
export async function exportTo(options: ExportOptions): Promise<number> {
  const { url, format, fileName, signal, onProgress } = options
  const sink = await sinkFor(fileName, mediaTypes[format])
  try {
    const response = await fetch(url, {
      headers: {
        accept: mediaTypes[format],
        authorization: `Bearer ${currentKey() ?? ''}`,
        'x-request-id': newRequestId(),
      },
      signal,
    })
    if (!response.ok || response.body === null) throw await failureOf(response)
    const header = response.headers.get('x-total-count')
    const total = header === null ? undefined : Number(header)
    const counter = format === 'csv' ? csvCounter() : ndjsonCounter()
    let bytes = 0
    for (
      let reader = response.body.getReader(), next = await reader.read();
      !next.done;
      next = await reader.read()
    ) {
      counter.add(next.value)
      bytes += next.value.length
      await sink.write(next.value)
      onProgress({ records: counter.records(), bytes, total })
    }
    if (!counter.isComplete()) throw new Error(t.export.truncated)
    await sink.close()
    return counter.records()
  } catch (error) {
    await sink.abort()
    throw error
  }
}

async function failureOf(response: Response): Promise<RequestFailed> {
  const problem: Problem = await response.json().catch(() => ({
    status: response.status,
    code: 'no_response',
    title: t.export.failed,
    detail: t.app.statusOf(response.status),
  }))
  return new RequestFailed(problem)
}

interface Counter {
  add(chunk: Uint8Array): void
  records(): number
  isComplete(): boolean
}

const quote = 0x22
const lineFeed = 0x0a

/** Counts line feeds outside quotes. The header line is not a record. */
export function csvCounter(): Counter {
  let lines = 0
  let isQuoted = false
  return {
    add(chunk) {
      for (const byte of chunk) {
        if (byte === quote) isQuoted = !isQuoted
        else if (byte === lineFeed && !isQuoted) lines += 1
      }
    },
    records: () => Math.max(lines - 1, 0),
    // The service sends gzip to browsers: a truncated body fails before this.
    isComplete: () => !isQuoted && lines > 0,
  }
}

/** The last line is the end marker, which is not a record. */
export function ndjsonCounter(): Counter {
  let lines = 0
  let tail = ''
  const decoder = new TextDecoder()
  return {
    add(chunk) {
      for (const byte of chunk) if (byte === lineFeed) lines += 1
      tail = (tail + decoder.decode(chunk.subarray(-200))).slice(-200)
    },
    records: () => Math.max(isEnd(tail) ? lines - 1 : lines, 0),
    isComplete: () => isEnd(tail),
  }
}

function isEnd(tail: string): boolean {
  return tail.trimEnd().split('\n').at(-1)?.startsWith('{"$end"') === true
}

declare global {
  /** Chromium's file picker, which TypeScript's types of the browser do not have. */
  var showSaveFilePicker:
    | ((options: { readonly suggestedName: string }) => Promise<{ createWritable(): Promise<Sink> }>)
    | undefined
}

async function sinkFor(fileName: string, type: string): Promise<Sink> {
  if (globalThis.showSaveFilePicker !== undefined) {
    const file = await globalThis.showSaveFilePicker({ suggestedName: fileName })
    return await file.createWritable()
  }
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  return {
    async write(chunk) {
      bytes += chunk.length
      if (bytes > memoryBytesMax) throw new Error(t.export.tooLarge)
      chunks.push(chunk)
    },
    async close() {
      const link = document.createElement('a')
      link.href = URL.createObjectURL(new Blob(chunks, { type }))
      link.download = fileName
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
    },
    async abort() {
      chunks.length = 0
    },
  }
}
