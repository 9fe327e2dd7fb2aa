import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { plain } from './generated/markdown.ts'
import { namesIn, parts, written } from './generated/parts.ts'

/** The generated parts of the documents are those of the code. */

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const files = [...new Set(parts.map(({ file }) => file))]

it.each(files)('%s is as the code says: run npm run docs', async (file) => {
  const document = read(file)
  expect(document).toBe(await written(file, document))
})

it.each(files)('%s has a place for each of its parts, once', (file) => {
  const names = parts.filter((part) => part.file === file).map(({ name }) => name)
  expect(namesIn(read(file)).toSorted()).toEqual(names.toSorted())
})

it('no other document has such a place, and each ends', () => {
  const documents = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)))
  const marks = documents.filter((file) => /^<!-- \/?generated/m.test(read(file)))
  expect(marks.toSorted()).toEqual(files.toSorted())
  for (const file of files)
    expect(read(file).match(/<!-- \/?generated/g)).toHaveLength(2 * namesIn(read(file)).length)
})

it('a name without a text, and a part that differs from the code, are found', async () => {
  await expect(written('docs/api.md', '<!-- generated: nope -->\n<!-- /generated -->')).rejects.toThrow(
    'docs/api.md: nothing generates nope.',
  )
  const file = 'docs/operating/limits.md'
  const document = read(file)
  const changed = document.replace('64 KB', '65 KB')
  expect(changed).not.toBe(document)
  expect(await written(file, changed)).toBe(document)
})

it('texts of the code are Markdown that shows the same text', () => {
  expect(plain('Add one of = != * > [] for <key>, or Retry-After with key_taken.')).toBe(
    'Add one of = != \\* &gt; \\[\\] for &lt;key&gt;, or `Retry-After` with `key_taken`.',
  )
})
