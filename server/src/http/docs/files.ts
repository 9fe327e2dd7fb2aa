import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LRUCache } from 'lru-cache'
import { limits } from '../../limits/limits.ts'

/** `manifest.json` of the built site: what exists, with the hash of each file, and the hashes of the inline scripts. */
interface Manifest {
  readonly scripts: readonly string[]
  readonly files: Readonly<Record<string, string>>
}

export type Encoding = 'br' | 'gzip' | undefined

/** The built site. A request selects one of the files of its manifest; its path never becomes a path of the file system. */
export interface Site {
  /** Hashes of the inline scripts of its pages, for `Content-Security-Policy`. */
  readonly scripts: readonly string[]
  readonly files: ReadonlyMap<string, SiteFile>
}

export interface SiteFile {
  readonly type: string
  readonly etag: string
  /** Whether its name contains a hash of its contents. */
  readonly isAsset: boolean
  /** Whether it has a gzip and a Brotli version. */
  readonly isText: boolean
  read(encoding: Encoding): Promise<Buffer>
}

/** In the npm package next to `dist`; in a checkout the result of `npm run build -w site`. */
const folders = ['../../../site/', '../../../../site/dist/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

const textTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}
const types: Readonly<Record<string, string>> = { ...textTypes, '.png': 'image/png' }

const suffixes = { br: '.br', gzip: '.gz' } as const

/**
 * Reads the manifest; undefined if the site is not built. A file is read when it is first requested. The versions that are requested
 * stay in memory, up to `siteBytesMax`, and responses share them, so that many slow clients need no more.
 */
export async function readSite(candidates: readonly string[] = folders): Promise<Site | undefined> {
  const folder = candidates.find((one) => existsSync(`${one}manifest.json`))
  if (folder === undefined) return undefined
  const { scripts, files }: Manifest = JSON.parse(await readFile(`${folder}manifest.json`, 'utf8'))
  const cache = new LRUCache<string, Buffer>({
    maxSize: limits.siteBytesMax,
    sizeCalculation: ({ length }) => Math.max(length, 1),
    fetchMethod: (name) => readFile(folder + name),
  })
  const siteFile = ([name, hash]: [string, string]): [string, SiteFile] => {
    const read = async (encoding: Encoding) =>
      await cache.forceFetch(encoding === undefined ? name : name + suffixes[encoding])
    const extension = extname(name)
    const type = types[extension] ?? 'application/octet-stream'
    const isText = textTypes[extension] !== undefined
    return [name, { type, etag: `W/"${hash}"`, isAsset: name.startsWith('assets/'), isText, read }]
  }
  return { scripts, files: new Map(Object.entries(files).map(siteFile)) }
}
