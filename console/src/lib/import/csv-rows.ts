import { t } from '../../texts/texts.ts'

/** A cell as it is in the file. Null: an empty cell without quotes, which means no value. */
export type Cell = string | null

export interface CsvRow {
  /** The line of the file on which the row begins, from 1. */
  readonly line: number
  readonly cells: readonly Cell[]
}

export interface CsvFile {
  readonly header: readonly string[]
  readonly rows: readonly CsvRow[]
}

/** Why a file cannot be read. */
export class CsvError extends Error {}

/** Larger files are for `quartermaster import`, which streams them. */
export const fileBytesMax = 100_000_000

/** UTF-8; or Windows-1252, in which spreadsheets save CSV on Western European Windows. */
export function decodeCsv(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/** Parses RFC 4180, with the separator that is most frequent in the header: a comma, a semicolon or a tab. */
export function parseCsv(text: string): CsvFile {
  const source = text.replace(/^\uFEFF/, '')
  const separator = separatorOf(source)
  const rows: CsvRow[] = []
  let cells: Cell[] = []
  let line = 1
  let startLine = 1
  let at = 0
  const endRow = () => {
    // A blank line has one empty cell.
    if (cells.length > 1 || (cells[0] ?? null) !== null) rows.push({ line: startLine, cells })
    cells = []
    line += 1
    startLine = line
  }
  while (at < source.length) {
    const cell = source[at] === '"' ? quotedAt(source, at, startLine) : plainAt(source, at, separator)
    cells.push(cell.value)
    line += cell.lineFeeds
    at = cell.end
    if (source[at] === separator) {
      at += 1
      // A separator at the end of the file is followed by an empty cell.
      if (at === source.length) cells.push(null)
      continue
    }
    if (source[at] === '\r' && source[at + 1] === '\n') at += 2
    else if (source[at] === '\n' || source[at] === '\r') at += 1
    else if (at < source.length) throw new CsvError(t.import.textAfterQuote(startLine))
    endRow()
  }
  if (cells.length > 0) endRow()
  const [first, ...rest] = rows
  if (first === undefined) throw new CsvError(t.import.emptyFile)
  return { header: first.cells.map((cell) => cell ?? ''), rows: rest }
}

function separatorOf(source: string): string {
  const end = source.search(/[\r\n]/)
  const header = (end < 0 ? source : source.slice(0, end)).replaceAll(/"[^"]*"/g, '')
  const counted = [',', ';', '\t'].map((separator) => [header.split(separator).length, separator] as const)
  return counted.reduce((best, one) => (one[0] > best[0] ? one : best))[1]
}

interface ReadCell {
  readonly value: Cell
  readonly end: number
  readonly lineFeeds: number
}

function plainAt(source: string, start: number, separator: string): ReadCell {
  let end = start
  while (end < source.length) {
    const character = source[end]
    if (character === separator || character === '\n' || character === '\r') break
    end += 1
  }
  return { value: end === start ? null : source.slice(start, end), end, lineFeeds: 0 }
}

function quotedAt(source: string, start: number, line: number): ReadCell {
  let end = start + 1
  for (;;) {
    const quote = source.indexOf('"', end)
    if (quote < 0) throw new CsvError(t.import.openQuote(line))
    if (source[quote + 1] !== '"') {
      const inner = source.slice(start + 1, quote)
      const value = inner.includes('"') ? inner.replaceAll('""', '"') : inner
      return { value, end: quote + 1, lineFeeds: value.split('\n').length - 1 }
    }
    end = quote + 2
  }
}

/** One line of CSV, with every text in quotes. */
export function csvLine(cells: readonly Cell[]): string {
  return cells.map((cell) => (cell === null ? '' : `"${cell.replaceAll('"', '""')}"`)).join(',')
}
