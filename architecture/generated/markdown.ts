/** Parts of Markdown that the generated documents have in common. */

/** A table. Cells are Markdown in which `|` is escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

export const code = (text: string) => `\`${text}\``

export const codes = (texts: readonly string[]) => texts.map(code).join(', ')

/** Plain text as Markdown: signs with a meaning are escaped. */
export const escaped = (text: string) =>
  text
    .replaceAll(/[\\|*[\]]/g, '\\$&')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')

/** The same, with codes, members and headers marked as code. */
export function plain(text: string): string {
  return escaped(text)
    .replaceAll(
      /(?<![`-])\b(?:[A-Z_]{9,}|[a-z]+(?:_[a-z]+)+|[A-Z][A-Za-z]*(?:-[A-Z][A-Za-z]*)+|QUERY|PATCH|webhook\.challenge|data\.challenge|application\/[a-z-]+)\b/g,
      (word) => code(word),
    )
    .replaceAll(/…?\/(?:(?:api|manage)\/v1\/(?:\w+)?|\{key\}\/\{value\})/g, (path) => code(path))
}

/** Without the full stop of a single sentence: a cell of a table. */
export const cell = (text: string) => plain(text.replace(/^([^.]*(?:\.\S[^.]*)*)\.$/, '$1'))
