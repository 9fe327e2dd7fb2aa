import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Check } from '../check.ts'
import { bash, onCleanClone } from '../first-minute.ts'

/** In the order of reading: the first one starts the service that the others use. */
const guides = [
  'first-request',
  'keep-a-copy',
  'errors-and-limits',
  'writing-records',
  'from-odoo',
  'from-erpnext',
  'from-business-central',
  'from-csv',
  'erp-sync',
]

interface Block {
  readonly guide: string
  readonly commands: string
  /** The output that the guide shows after the commands, if any. */
  readonly printed: string | undefined
}

/** Runs every command of the guides, unchanged, on a clean clone of the current commit. */
export const guidesWork: Check = {
  name: 'guides',
  bound: 'all work as written',
  run: (context) =>
    onCleanClone(async (folder) => {
      const blocks = guides.flatMap((guide) =>
        blocksOf(guide, readFileSync(join(folder, `docs/guides/${guide}.md`), 'utf8')),
      )
      context.log(`${blocks.length} blocks of commands from ${guides.length} guides on a clean clone`)
      const output = await bash([...blocks.map(withSeparator), 'kill $!', 'wait'].join('\n'), folder)
      const parts = output.split(/^== block$\n/m).slice(1)
      const wrong = blocks.flatMap(({ guide, commands, printed }, at) =>
        printed === undefined || parts[at]?.includes(printed)
          ? []
          : [`${guide}:\n${commands}printed\n${parts[at]}`],
      )
      const documented = blocks.filter(({ printed }) => printed !== undefined).length
      return {
        value: `${blocks.length} blocks ran, ${documented - wrong.length} of ${documented} printed as documented`,
        samples: documented,
        ok: wrong.length === 0 && documented >= guides.length,
        ...(wrong.length === 0 ? {} : { note: wrong.join('\n') }),
      }
    }),
}

function blocksOf(guide: string, text: string): Block[] {
  const found = text.matchAll(/^```sh\n([\s\S]*?)^```\n(?:\s*```text\n([\s\S]*?)^```$)?/gm)
  return Array.from(found, ([, commands = '', printed]) => ({ guide, commands, printed }))
}

function withSeparator({ commands }: Block): string {
  return `echo '== block'\n${commands}`
}
