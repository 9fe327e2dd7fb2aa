import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const checkout = fileURLToPath(new URL('..', import.meta.url))

/** A block of a document that begins with ```LANGUAGE NAME. */
export interface Block {
  readonly document: string
  readonly language: string
  /** Empty if it has none. */
  readonly name: string
  readonly text: string
}

/** The documents for operators: a check or a test runs every block of commands and of SQL in them. */
export function operatorDocuments(root = checkout): string[] {
  const chapters = globSync('docs/operating/*.md', { cwd: root }).toSorted()
  return ['README.md', 'deploy/README.md', ...chapters]
}

export function blocksOf(document: string, root = checkout): Block[] {
  const text = readFileSync(join(root, document), 'utf8')
  return [...text.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', name = '', block = '']) => ({ document, language, name, text: block }),
  )
}

/** The block with this name in a document for operators. architecture/operator-blocks.test.ts finds the callers by their text. */
export function documented(name: string, root = checkout): string {
  for (const document of operatorDocuments(root)) {
    for (const block of blocksOf(document, root)) if (block.name === name) return block.text
  }
  throw new Error(`No document for operators has a block ${name}.`)
}
