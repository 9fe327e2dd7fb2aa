import type { Field } from '../catalog/field.ts'

/**
 * The form of CSV for spreadsheets: a `'` precedes what a spreadsheet would run as a formula, and the empty text, which a
 * spreadsheet would save as null. In an export, `sql/export-statement.ts` inserts the `'`.
 *
 * The name of each text column begins with a `'` as well. So the mark is in the column whose texts it describes: it stays
 * when a person deletes, moves or saves columns, and an import never guesses.
 */
const mark = "'"

export function markedName({ name, type }: Field): string {
  return type === 'text' ? `${mark}${name}` : name
}

/** The field name of a marked column; undefined if the column is not marked. */
export function nameOfMarked(column: string): string | undefined {
  return column.startsWith(mark) ? column.slice(mark.length) : undefined
}

/** The cell of a text in a marked column, as PostgreSQL writes it in an export. */
export function spreadsheetText(text: string): string {
  const within = text.replaceAll(/(?<=[;\t\r\n])(?=['"]*[=+\-@＝＋－＠])/g, mark)
  return /^'*(?:[=+\-@\t\r\n＝＋－＠]|$)/.test(text) ? `${mark}${within}` : within
}

/** The text of a record, from that of a cell in a marked column. */
export function exactText(cell: string): string {
  const within = /[;\t\r\n]'/.test(cell)
    ? cell.replaceAll(/(?<=[;\t\r\n])'(?=['"]*[=+\-@＝＋－＠])/g, '')
    : cell
  return within.startsWith(mark) ? within.replace(/^'(?='*(?:[=+\-@\t\r\n＝＋－＠]|$))/, '') : within
}
