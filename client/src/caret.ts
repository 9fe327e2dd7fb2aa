import { limits } from './limits.ts'

/** The part of a text that is wrong, underlined; of a long text, what stands around it. */
export function caret(text: string, offset: number, length: number): string {
  const room = limits.excerptCharacters
  const from = text.length <= room ? 0 : Math.max(0, Math.min(offset - room / 2, text.length - room))
  const shown = (from > 0 ? '…' : '') + text.slice(from, from + room) + (from + room < text.length ? '…' : '')
  const before = offset - from + (from > 0 ? 1 : 0)
  const marks = Math.max(1, Math.min(length, shown.length - before))
  // What would move the caret to another line or column is shown as one visible character.
  return `  ${shown.replace(/\p{Cc}/gu, '·')}\n  ${' '.repeat(before)}${'^'.repeat(marks)}`
}
