import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { limits } from '../../limits/limits.ts'

/** A file of the built console, with its compressed versions. */
export interface ConsoleFile {
  readonly type: string
  readonly etag: string
  readonly body: Buffer
  readonly gzipped: Buffer
  readonly brotli: Buffer
}

export interface ConsoleFiles {
  readonly page: ConsoleFile
  /** By file name. A request selects one of them; its path never becomes a path of the file system. */
  readonly assets: ReadonlyMap<string, ConsoleFile>
}

/** In the npm package next to `dist`; in a checkout the result of `npm run build -w console`. */
const folders = ['../../../console/', '../../../../console/dist/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** Reads all files into memory; undefined if the console is not built. */
export async function readConsole(
  candidates: readonly string[] = folders,
): Promise<ConsoleFiles | undefined> {
  const folder = candidates.find((one) => existsSync(`${one}index.html`))
  if (folder === undefined) return undefined
  const names = (await readdir(`${folder}assets`)).filter((name) => types[extname(name)] !== undefined)
  if (names.length > limits.consoleFilesMax) {
    throw new Error(`${folder}assets has ${names.length} files; the maximum is ${limits.consoleFilesMax}.`)
  }
  const files = await Promise.all(names.map((name) => readConsoleFile(`${folder}assets/${name}`)))
  const page = await readConsoleFile(`${folder}index.html`)
  const bytes = files.reduce((sum, { body }) => sum + body.length, page.body.length)
  if (bytes > limits.consoleBytesMax) {
    throw new Error(`The files in ${folder} have ${bytes} bytes; the maximum is ${limits.consoleBytesMax}.`)
  }
  return { page, assets: new Map(names.map((name, index) => [name, files[index] ?? page])) }
}

async function readConsoleFile(path: string): Promise<ConsoleFile> {
  const [body, gzipped, brotli] = await Promise.all([
    readFile(path),
    readFile(`${path}.gz`),
    readFile(`${path}.br`),
  ])
  const etag = `W/"${hash('sha1', body, 'base64url').slice(0, 16)}"`
  return { type: types[extname(path)] ?? 'application/octet-stream', etag, body, gzipped, brotli }
}
