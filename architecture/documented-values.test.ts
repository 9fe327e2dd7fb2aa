import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { limits } from '../server/src/limits/limits.ts'
import { defaultLimits } from '../server/src/limits/passed-limits.ts'
import { formsOf, hasForm } from './documented-values.ts'

/** Compares the numbers in documents with the limits of the code. */

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const documents = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))

const values: Readonly<Record<string, unknown>> = { ...limits, ...defaultLimits }

function isRight(text: string, name: string): boolean {
  const value = values[name]
  return typeof value === 'number' && hasForm(text, formsOf(name, value))
}

/** A number in a sentence that is a limit is followed by a comment with its name: `15 s<!-- usageFlushMs -->`. */
it('a number with the name of a limit behind it is the value of that limit', () => {
  const marked = documents.flatMap((file) =>
    [...read(file).matchAll(/([^|\n]{1,40}?)<!-- (\w+) -->/g)].map(([, text = '', name = '']) => ({
      file,
      text: text.slice(-24),
      name,
    })),
  )
  expect(marked.length).toBeGreaterThan(60)
  expect(marked.filter(({ text, name }) => !isRight(text, name))).toEqual([])
})
