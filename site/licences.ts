import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundled } from './bundled.ts'

interface Emitter {
  emitFile(file: { type: 'asset'; fileName: string; source: string }): unknown
}

/**
 * Writes `licenses.txt`, as the console has it: the licences of the bundled libraries require that their texts are part of every
 * copy. A few packages name only the licence and the author. Fails if a library
 * has neither, or is not in `bundled.ts`.
 */
export const licences = {
  name: 'licences',
  generateBundle(this: Emitter, _options: unknown, bundle: Readonly<Record<string, object>>): void {
    const ids = Object.values(bundle).flatMap(moduleIds)
    const folders = new Set(ids.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []))
    const texts = [...folders].map(licenceOf).toSorted((one, other) => (one.name < other.name ? -1 : 1))
    const unlisted = texts.map(({ name }) => name).filter((name) => !bundled.includes(name))
    if (unlisted.length > 0) throw new Error(`Bundled, but not in site/bundled.ts: ${unlisted.join(', ')}`)
    const source = texts
      .map(({ title, text }) => `${title}\n\n${text.trim()}\n`)
      .join(`\n${'-'.repeat(80)}\n\n`)
    this.emitFile({ type: 'asset', fileName: 'licenses.txt', source })
  },
}

function moduleIds(output: object): string[] {
  return 'moduleIds' in output && Array.isArray(output.moduleIds) ? output.moduleIds : []
}

function licenceOf(folder: string): { name: string; title: string; text: string } {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((one) => /^licen[cs]e(?:\.|$)/i.test(one))
  if (file === undefined && (license === undefined || author === undefined)) {
    throw new Error(`${folder} does not name a licence.`)
  }
  const text = file === undefined ? `By ${author.name ?? author}` : readFileSync(join(folder, file), 'utf8')
  return { name, title: `${name} ${version} (${license})`, text }
}
