import { type Problem, problemFrom, RequestFailed } from '../../api/exchange.ts'
import { currentKey } from '../../session.ts'
import { t } from '../../texts/texts.ts'
import type { CsvRow } from './csv-rows.ts'
import { csvBody, type MappedRow, type Mapping, type Reject } from './mapping.ts'

/** Rows of one request: the service writes as many in one transaction. */
export const uploadRows = 1_000
const attemptsMax = 6
const waitMsMax = 10_000

export interface Totals {
  readonly read: number
  readonly inserted: number
  readonly updated: number
  readonly unchanged: number
  readonly rejected: number
}

export interface Progress extends Totals {
  readonly rejects: readonly Reject[]
}

interface RejectedLine {
  readonly line: number
  readonly field?: string
  readonly reason?: string
  readonly value?: string | number | boolean | null
  readonly more?: readonly RejectedLine[]
}

export interface UploadOptions {
  readonly rows: readonly MappedRow[]
  /** Of the resource: `/api/v1/inventory/product`. */
  readonly path: string
  readonly mapping: Mapping
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
  /** Replaced by tests. */
  readonly send?: (url: string, init: { readonly body: string } & RequestInit) => Promise<Response>
  readonly wait?: (ms: number) => Promise<void>
}

const none: Progress = { read: 0, inserted: 0, updated: 0, unchanged: 0, rejected: 0, rejects: [] }
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/**
 * Sends the rows in batches, one after the other. Throws RequestFailed if one fails; those before it are written. To send the same
 * rows again is harmless, except if they are only inserted.
 */
export async function upload(options: UploadOptions): Promise<Progress> {
  const { rows, mapping, signal, onProgress } = options
  let progress = none
  for (let start = 0; start < rows.length; start += uploadRows) {
    signal.throwIfAborted()
    const part = rows.slice(start, start + uploadRows)
    const uneven = part.filter(({ values }) => values === undefined)
    const sent = uneven.length === part.length ? none : await sendPart(part, options)
    const rejects = [
      ...uneven.map((row) => ({
        row,
        reason: t.import.cells(row.cells.length, mapping.columns.length),
      })),
      ...sent.rejects,
    ].toSorted((one, other) => one.row.line - other.row.line)
    progress = {
      read: progress.read + part.length,
      inserted: progress.inserted + sent.inserted,
      updated: progress.updated + sent.updated,
      unchanged: progress.unchanged + sent.unchanged,
      rejected: progress.rejected + rejects.length,
      rejects: [...progress.rejects, ...rejects],
    }
    onProgress(progress)
  }
  return progress
}

async function sendPart(part: readonly MappedRow[], options: UploadOptions): Promise<Progress> {
  const { path, mapping, signal, send = fetch, wait = sleep } = options
  const { text, rowAt } = csvBody(part)
  const key = mapping.key === 'id' ? '' : `&key=${encodeURIComponent(mapping.key)}`
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await send(`${path}/batch?mode=${mapping.mode}${key}`, {
        method: 'POST',
        headers: {
          accept: 'application/x-ndjson, application/problem+json',
          authorization: `Bearer ${currentKey() ?? ''}`,
          'content-type': 'text/csv',
          'batch-results': 'at-end',
        },
        body: text,
        signal,
      })
      if (response.ok) return resultOf(await response.text(), rowAt)
      const problem: Problem = await response.json()
      if (attempt === attemptsMax || !isPassing(response.status)) throw new RequestFailed(problem)
      await wait(waitMsOf(response, attempt))
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof RequestFailed) throw error
      // No response: the rows may have been written. Inserting them again would reject them.
      if (attempt === attemptsMax || mapping.mode === 'insert') throw new RequestFailed(problemFrom(error))
      await wait(waitMsOf(undefined, attempt))
    }
  }
}

function isPassing(status: number): boolean {
  return status === 429 || status === 503
}

function waitMsOf(response: Response | undefined, attempt: number): number {
  const seconds = Number(response?.headers.get('retry-after') ?? Number.NaN)
  return Math.min(waitMsMax, Number.isNaN(seconds) ? 250 * 2 ** attempt : seconds * 1_000)
}

/** The lines of the response: one for each rejected row, and the totals at the end. */
export function resultOf(text: string, rowAt: ReadonlyMap<number, CsvRow>): Progress {
  const rejects: Reject[] = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    const parsed: RejectedLine & { readonly $end?: Totals; readonly $error?: Problem } = JSON.parse(line)
    if (parsed.$error !== undefined) throw new RequestFailed(parsed.$error)
    if (parsed.$end !== undefined) return { ...parsed.$end, rejects }
    const row = rowAt.get(parsed.line)
    if (row !== undefined) rejects.push({ row, reason: reasonOf(parsed) })
  }
  throw new Error(t.import.ended)
}

function reasonOf({ field, reason, value, more = [] }: RejectedLine): string {
  const subject = field === undefined || field === '' ? '' : `${field} `
  const first = `${subject}${reason ?? t.import.wasRejected}${value === undefined ? '' : `: ${String(value)}`}`
  return [first, ...more.map(reasonOf)].join('; ')
}
