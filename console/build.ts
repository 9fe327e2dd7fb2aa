import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'

/**
 * Builds `dist`, or the folder that is passed: the files that the service serves at /console, each with a gzip and a
 * Brotli version next to it, so that the service compresses nothing at run time.
 */

const root = fileURLToPath(new URL('.', import.meta.url))
const dist = resolve(process.argv[2] ?? `${root}dist`)

rmSync(dist, { recursive: true, force: true })
await build({ root, configFile: `${root}vite.config.ts`, logLevel: 'warn', build: { outDir: dist } })
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  const file = join(dist, name)
  if (statSync(file).isDirectory() || name.endsWith('.txt')) continue
  const body = readFileSync(file)
  writeFileSync(`${file}.gz`, gzipSync(body, { level: 9 }))
  writeFileSync(
    `${file}.br`,
    brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
  )
}
