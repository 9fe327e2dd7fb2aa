import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { blocksOf, operatorDocuments } from './documented.ts'

/** Every block of commands or SQL in the documents for operators is run by a check or a test, which reads it by its name. */

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const documents = operatorDocuments()
const blocks = documents.flatMap((document) => blocksOf(document))
const runnable = blocks.filter(({ language }) => language === 'sh' || language === 'sql')
const named = blocks.filter(({ name }) => name !== '')

/** The blocks that nothing can run, by the reason in ```sh not-run:REASON. */
const notRun: Readonly<Record<string, string>> = {
  'needs-docker':
    'docker build needs a Docker daemon and an image from a registry; image-build builds the same Containerfile',
  'needs-systemd':
    'systemctl needs systemd as the first process; systemd-install installs the units, and systemd_units verifies them',
}

/** By the name of the block: the files that read it. */
function readers(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const file of globSync(['verification/src/**/*.ts', 'server/test/*.ts', 'architecture/*.test.ts'], {
    cwd: root,
  })) {
    for (const [, name = ''] of read(file).matchAll(/\bdocumented\('([^']+)'/g))
      found.set(name, [...(found.get(name) ?? []), file])
  }
  return found
}

it('every block of commands or SQL has a name of its own', () => {
  expect(runnable.length).toBeGreaterThan(40)
  const fences = documents.flatMap(
    (document) => read(document).match(/^\s*```(?:sh|bash|shell|console|sql)\b/gm) ?? [],
  )
  expect(runnable).toHaveLength(fences.length)
  expect(runnable.filter(({ name }) => name === '')).toEqual([])
  const names = named.map(({ name }) => name).filter((name) => !name.startsWith('not-run:'))
  expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([])
})

it('every block of commands or SQL is run by a check or a test', () => {
  const run = readers()
  const missing = runnable.filter(({ name }) => !run.has(name) && !name.startsWith('not-run:'))
  expect(missing.map(({ document, name }) => `${document}: ${name}`)).toEqual([])
})

it('every block that a check or a test reads exists', () => {
  const names = named.map(({ name }) => name)
  expect([...readers()].filter(([name]) => !names.includes(name))).toEqual([])
})

it('a block that is not run has a reason that is listed here', () => {
  const reasons = named.flatMap(({ name }) =>
    name.startsWith('not-run:') ? [name.slice('not-run:'.length)] : [],
  )
  expect(reasons.toSorted()).toEqual(Object.keys(notRun).toSorted())
})
