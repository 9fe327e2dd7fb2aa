import { createHash, hash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { deadLinks } from './dead-links.ts'
import { copies, pages, root } from './pages.ts'

/**
 * Builds the site, and checks its links and anchors:
 *
 *   node site/build.ts [FOLDER] [--base BASE]
 *
 * Without arguments into `dist`, whose files the service serves at /docs, each with a gzip and a Brotli version next to it. If
 * nothing has changed since the last build, nothing is done. FOLDER gets a copy. With another base, the files are built for a
 * public host that serves them below that path.
 */

const site = fileURLToPath(new URL('.', import.meta.url))
const dist = `${site}dist`
const served = '/docs/'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { base: { type: 'string', default: served } },
})
const [folder] = positionals

if (values.base === served) {
  const inputs = hashOfInputs()
  if (!isBuiltFrom(inputs)) await buildInto(dist, served, inputs)
  if (folder !== undefined) cpSync(dist, resolve(folder), { recursive: true })
} else {
  if (folder === undefined) throw new Error('With --base, name the folder for the files.')
  await buildInto(resolve(folder), values.base, hashOfInputs())
}

/** The folder is replaced when all files are complete, because a service may be reading it. */
async function buildInto(target: string, base: string, inputs: string): Promise<void> {
  const outDir = `${target}-${process.pid}`
  const tempDir = `${site}.vitepress/.temp-${process.pid}`
  const { build } = await import('vitepress')
  try {
    // A folder for each build: two may run at the same time.
    await build(site, {
      base,
      onAfterConfigResolve: (config) => void Object.assign(config, { tempDir, outDir }),
    })
    const dead = deadLinks(outDir, base)
    if (dead.length > 0) throw new Error(`Dead links:\n${dead.join('\n')}`)
    writeManifest(outDir, inputs)
    await compressFiles(outDir)
    rmSync(target, { recursive: true, force: true })
    renameSync(outDir, target)
  } finally {
    for (const path of [outDir, tempDir]) rmSync(path, { recursive: true, force: true })
  }
}

/** What the service reads: the files that exist, with the hash of each, and the inline scripts that its policy allows. */
function writeManifest(outDir: string, inputs: string): void {
  const files = filesIn(outDir).filter((name) => !['hashmap.json', 'licenses.txt'].includes(name))
  const hashes = files.map((name) => [
    name,
    hash('sha1', readFileSync(join(outDir, name)), 'base64url').slice(0, 16),
  ])
  const scripts = new Set(
    files
      .filter((name) => name.endsWith('.html'))
      .flatMap((name) => inlineScripts(readFileSync(join(outDir, name), 'utf8')))
      .map((script) => `sha256-${hash('sha256', script, 'base64')}`),
  )
  rmSync(join(outDir, 'hashmap.json'), { force: true })
  const manifest = { inputs, scripts: [...scripts].toSorted(), files: Object.fromEntries(hashes) }
  writeFileSync(join(outDir, 'manifest.json'), `${JSON.stringify(manifest)}\n`)
}

function inlineScripts(html: string): string[] {
  return [...html.matchAll(/<script(?![^>]* src=)[^>]*>([^<]*)<\/script>/g)].map(([, text = '']) => text)
}

/** Pictures are compressed already. */
async function compressFiles(outDir: string): Promise<void> {
  const texts = filesIn(outDir).filter((name) =>
    ['.html', '.js', '.css', '.svg', '.txt'].includes(extname(name)),
  )
  await Promise.all(
    texts.map(async (name) => {
      const file = join(outDir, name)
      const body = await readFile(file)
      const params = { [constants.BROTLI_PARAM_SIZE_HINT]: body.length, [constants.BROTLI_PARAM_QUALITY]: 9 }
      await writeFile(`${file}.gz`, await promisify(gzip)(body, { level: 9 }))
      await writeFile(`${file}.br`, await promisify(brotliCompress)(body, { params }))
    }),
  )
}

function filesIn(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(path, name)).isFile(),
  )
}

function isBuiltFrom(inputs: string): boolean {
  const manifest = `${dist}/manifest.json`
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).inputs === inputs
}

/** Everything that the site is built from. */
function hashOfInputs(): string {
  const own = filesIn(site).filter(
    (name) => !/^(?:dist|node_modules|\.vitepress\/(?:cache|\.temp))/.test(name),
  )
  const files = new Set([
    ...own.map((name) => `site/${name}`),
    ...filesIn(`${root}docs`).map((name) => `docs/${name}`),
    ...pages,
    ...copies.keys(),
    'package.json',
    'package-lock.json',
  ])
  const digest = createHash('sha256')
  for (const file of [...files].toSorted())
    digest
      .update(`${file}\0`)
      .update(readFileSync(root + file))
      .update('\0')
  return digest.digest('base64url')
}
