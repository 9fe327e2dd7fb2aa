import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const operating = fileURLToPath(new URL('../../../docs/operating.md', import.meta.url))

/** The code block of docs/operating.md that begins with ```sh NAME. */
export function documented(name: string): string {
  const blocks = readFileSync(operating, 'utf8').matchAll(/^```sh (\S+)\n([\s\S]*?)^```$/gm)
  for (const [, label, block = ''] of blocks) if (label === name) return block
  throw new Error(`docs/operating.md has no block ${name}`)
}
