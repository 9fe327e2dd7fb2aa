import { readFileSync, writeFileSync } from 'node:fs'
import { parts, written } from '../architecture/generated/parts.ts'

/** Writes the generated parts of the documents. `architecture/generated.test.ts` fails while one of them is old. */

const root = new URL('../', import.meta.url)

for (const file of new Set(parts.map((part) => part.file))) {
  const url = new URL(file, root)
  const document = readFileSync(url, 'utf8')
  const text = await written(file, document)
  if (text === document) continue
  writeFileSync(url, text)
  process.stdout.write(`${file}\n`)
}
