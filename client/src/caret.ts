import { limits } from './limits.ts'

/** The text with carets below the wrong part; of a long text, an excerpt around that part. */
export function caret(text: string, offset: number, length: number): string {
  const width = limits.excerptCharacters
  const from = text.length <= width ? 0 : Math.max(0, Math.min(offset - width / 2, text.length - width))
  const shown =
    (from > 0 ? '…' : '') + text.slice(from, from + width) + (from + width < text.length ? '…' : '')
  const before = offset - from + (from > 0 ? 1 : 0)
  const carets = Math.max(1, Math.min(length, shown.length - before))
  // Control characters would move the carets to another line or column: show each as one visible character.
  return `  ${shown.replace(/\p{Cc}/gu, '·')}\n  ${' '.repeat(before)}${'^'.repeat(carets)}`
}
