import { createHash } from 'node:crypto'
import { limits } from '../limits/limits.ts'
import {
  type ArchiveEnd,
  ArchiveError,
  type ArchiveStart,
  type ArchiveTable,
  archiveFormat,
  archiveTables,
} from './archive-format.ts'

export type ArchivePart =
  | { readonly kind: 'start'; readonly start: ArchiveStart }
  | { readonly kind: 'table'; readonly table: ArchiveTable }
  /** Rows of the last table, each the text of one JSON object. */
  | { readonly kind: 'rows'; readonly rows: readonly string[] }

/**
 * Parses an archive. Throws unless the last line is there and its checksum matches, but only after all parts: the caller
 * must not commit before the iteration has ended.
 */
export async function* archiveParts(bytes: AsyncIterable<Buffer>): AsyncGenerator<ArchivePart> {
  const sha256 = createHash('sha256')
  let rows: string[] = []
  let characters = 0
  let count = 0
  let started = false
  let end: ArchiveEnd | undefined
  for await (const text of lines(bytes)) {
    if (end !== undefined) throw new ArchiveError('The archive continues after its last line.')
    if (!started || text.startsWith('{"$')) {
      if (rows.length > 0) yield { kind: 'rows', rows }
      rows = []
      characters = 0
      const part = controlLine(text, started)
      started = true
      if ('sha256' in part) {
        end = part
        continue
      }
      yield part
    } else {
      count += 1
      rows.push(text)
      characters += text.length
      if (rows.length >= limits.archiveBatchRows || characters >= limits.archiveBatchCharacters) {
        yield { kind: 'rows', rows }
        rows = []
        characters = 0
      }
    }
    sha256.update(text).update('\n')
  }
  if (!started) throw notAnArchive()
  if (end === undefined) throw new ArchiveError('The archive is truncated: its last line is missing.')
  if (end.rows !== count || end.sha256 !== sha256.digest('hex')) {
    throw new ArchiveError('The archive is damaged: its checksum does not match.')
  }
}

function controlLine(text: string, started: boolean): ArchivePart | ArchiveEnd {
  const content = parsed(text)
  if (!started) {
    const first = content['$archive']
    if (!isRecord(first)) throw notAnArchive()
    const start: ArchiveStart = {
      format: Number(first['format']),
      version: String(first['version']),
      account: String(first['account']),
      exported_at: String(first['exported_at']),
    }
    if (start.format === archiveFormat) return { kind: 'start', start }
    throw new ArchiveError(
      `The archive has the format ${start.format}, written by Quartermaster ${start.version}. This version reads ` +
        `format ${archiveFormat}. Restore it with that version.`,
    )
  }
  const { $table: table, $end: end } = content
  if (isRecord(end)) return { rows: Number(end['rows']), sha256: String(end['sha256']) }
  if (!isRecord(table) || !Array.isArray(table['columns'])) throw damaged(text)
  const name = String(table['name'])
  if (!archiveTables.includes(name)) {
    throw new ArchiveError(`The archive has the table ${name}, which this version does not have.`)
  }
  return { kind: 'table', table: { name, columns: table['columns'].map(String) } }
}

function parsed(text: string): Record<string, unknown> {
  try {
    const content: unknown = JSON.parse(text)
    if (isRecord(content)) return content
  } catch {
    // Reported below.
  }
  throw text.startsWith('{"$') ? damaged(text) : notAnArchive()
}

function isRecord(content: unknown): content is Record<string, unknown> {
  return typeof content === 'object' && content !== null && !Array.isArray(content)
}

function damaged(text: string): ArchiveError {
  return new ArchiveError(`The archive is damaged: ${JSON.stringify(text.slice(0, 60))} cannot be read.`)
}

function notAnArchive(): ArchiveError {
  return new ArchiveError(
    'This is not the archive of an account, as `quartermaster account export` writes it.',
  )
}

/** Lines that end with a line feed. What follows the last one is a truncated line. */
async function* lines(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let incomplete = ''
  for await (const chunk of bytes) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
    incomplete += first
    for (const next of others) {
      yield incomplete
      incomplete = next
    }
    if (incomplete.length > limits.importLineBytesMax) throw notAnArchive()
  }
}
