import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'

/**
 * Builds `dist`, or the folder that is passed: the files that the service serves at /console, each with a gzip and a
 * Brotli version next to it, so that the service compresses nothing at run time. The folder is replaced when all files are
 * complete, because a service may be reading it.
 */

const root = fileURLToPath(new URL('.', import.meta.url))
const dist = resolve(process.argv[2] ?? `${root}dist`)
const outDir = `${dist}-${process.pid}`

try {
  await build({ root, configFile: `${root}vite.config.ts`, logLevel: 'warn', build: { outDir } })
  compressFiles(outDir)
  rmSync(dist, { recursive: true, force: true })
  renameSync(outDir, dist)
} finally {
  rmSync(outDir, { recursive: true, force: true })
}

function compressFiles(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, name)
    if (statSync(file).isDirectory() || name.endsWith('.txt')) continue
    const body = readFileSync(file)
    writeFileSync(`${file}.gz`, gzipSync(body, { level: 9 }))
    writeFileSync(
      `${file}.br`,
      brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
    )
  }
}
