import { readFile } from 'node:fs/promises'
import type { MigrationBuilder, RunnerOption } from 'node-pg-migrate'

/**
 * The statements of a migration, which are sent one at a time: if tables are on several servers, these get the text of a change as
 * it was sent, and reject one with further statements.
 */
export function statementsIn(text: string): string[] {
  const statements: string[] = []
  let from = 0
  let isEmpty = true
  for (let at = 0; at < text.length; ) {
    const quote = quotes.find(({ opening }) => text.startsWith(opening, at))
    if (quote !== undefined) {
      const end = text.indexOf(quote.closing, at + quote.opening.length)
      if (end < 0) throw new Error(`A migration has a ${quote.opening} that nothing closes.`)
      at = end + quote.closing.length
      isEmpty &&= quote.opening === '--'
    } else if (text[at++] === ';') {
      statements.push(text.slice(from, at).trim())
      from = at
      isEmpty = true
    } else if (text[at - 1]?.trim() !== '') isEmpty = false
  }
  if (isEmpty) return statements
  throw new Error(`A migration does not end with a semicolon: ${text.slice(from).trim()}`)
}

/** Constants, names, blocks and comments, in which a semicolon ends no statement. */
const quotes = [
  { opening: "'", closing: "'" },
  { opening: '"', closing: '"' },
  { opening: '$$', closing: '$$' },
  { opening: '--', closing: '\n' },
]

type Loaders = NonNullable<RunnerOption['migrationLoaderStrategies']>

/** Loads the files for node-pg-migrate, which would send each as one text. */
export const loaders: Loaders = [
  {
    extensions: ['.sql'],
    loader: (paths) =>
      Promise.all(
        paths.map(async (path) => {
          const statements = statementsIn(await readFile(path, 'utf8'))
          const up: (builder: MigrationBuilder) => void = (builder) => {
            for (const statement of statements) builder.sql(statement)
          }
          return { id: path, filePaths: [path], actions: { up } }
        }),
      ),
  },
]
