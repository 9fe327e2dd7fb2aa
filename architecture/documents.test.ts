import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../server/src/config/config.ts'

/** Compares the documents with the code and with each other: settings, links, versions, samples of JSON. */

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))
const documents = tracked.filter((file) => file.endsWith('.md'))

it('the documents name no variable that is not a setting', () => {
  const wrong = documents
    .filter((file) => file !== 'CHANGELOG.md')
    .flatMap((file) => [...new Set(read(file).match(/\bQUARTERMASTER_[A-Z_]*[A-Z]\b/g))])
    .filter((name) => loadConfig({ [name]: 'x' }).faults.some(({ message }) => message.includes('is not')))
  expect(wrong).toEqual([])
})

describe('docs/security.md', () => {
  const security = read('docs/security.md')

  it('has a row with a test for each of the ten risks', () => {
    const rows = [...security.matchAll(/^\| API(\d+) [^|]+ \| [^|]+ \| ([^|]+) \|$/gm)]
    expect(rows.map((row) => Number(row[1]))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(rows.filter((row) => !/`[\w/.-]+\.ts`/.test(row[2] ?? ''))).toEqual([])
  })

  it('names existing tests', () => {
    const files = [...security.matchAll(/`([\w.-]+\/[\w/.-]+\.ts)`/g)].map((match) => match[1] ?? '')
    expect(files.length).toBeGreaterThan(20)
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
  })
})

it('docs/operating/README.md lists every chapter', () => {
  const chapters = documents.filter((file) => /^docs\/operating\/(?!README)/.test(file))
  const index = read('docs/operating/README.md')
  expect(chapters.length).toBeGreaterThan(10)
  expect(chapters.filter((file) => !index.includes(`](${basename(file)})`))).toEqual([])
})

it('docs/api.md lists every page of the API reference', () => {
  const pages = documents.filter((file) => /^docs\/reference\/(?!commands)/.test(file))
  const overview = read('docs/api.md')
  expect(pages.length).toBeGreaterThan(10)
  expect(pages.filter((file) => !overview.includes(`](reference/${basename(file)})`))).toEqual([])
})

/** The anchors that GitHub gives to the headings of a document. */
function anchorsOf(file: string): string[] {
  return [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/\]\([^)]*\)/g, '')
      .replaceAll(/[^\p{L}\p{N}\-_ ]/gu, '')
      .replaceAll(' ', '-'),
  )
}

it('every relative link has an existing target and heading', () => {
  const broken = documents.flatMap((file) =>
    [...read(file).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)]
      .filter(([, path = '', anchor]) => {
        const target = path === '' ? file : join(dirname(file), path)
        if (!existsSync(join(root, target))) return true
        return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor)
      })
      .map(([link]) => `${file}: ${link}`),
  )
  expect(broken).toEqual([])
})

it('documents name the tarballs of the current version', () => {
  const { version } = JSON.parse(read('package.json'))
  const named = documents
    .filter((file) => !file.endsWith('CHANGELOG.md'))
    .flatMap((file) => [...read(file).matchAll(/quartermaster(?:-client|-filter)?-(\d+\.\d+\.\d+)\.tgz/g)])
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter((match) => match[1] !== version)).toEqual([])
})

it('every JSON block in a document is valid', () => {
  for (const file of documents) {
    for (const [, block = ''] of read(file).matchAll(/^```json\n([\s\S]*?)^```$/gm)) {
      expect(() => JSON.parse(block), `${file}:\n${block}`).not.toThrow()
    }
  }
})

/** Only browsers and curl resolve subdomains of localhost; other programs do not. */
it('no document, example or picture has a URL with a subdomain of localhost', () => {
  const published = tracked.filter((file) => /\.(?:md|svg)$/.test(file) || file.startsWith('examples/'))
  expect(published.length).toBeGreaterThan(40)
  expect(published.filter((file) => /https?:\/\/[\w.-]+\.localhost/.test(read(file)))).toEqual([])
})
