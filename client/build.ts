import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

/**
 * Builds `dist`, or the folder that is passed, the contents of the published package: one module, with the filter language
 * bundled, and its types.
 */

const root = fileURLToPath(new URL('.', import.meta.url))
const dist = resolve(process.argv[2] ?? `${root}dist`)

rmSync(dist, { recursive: true, force: true })
await build({
  root,
  configFile: false,
  logLevel: 'warn',
  build: {
    outDir: dist,
    emptyOutDir: false,
    target: 'es2022',
    // Readable in a debugger. Applications that ship to browsers minify their own bundle.
    minify: false,
    lib: { entry: `${root}src/index.ts`, formats: ['es'], fileName: 'index' },
  },
})
execFileSync(`${root}../node_modules/.bin/tsc`, ['-p', `${root}tsconfig.json`, '--outDir', dist], {
  stdio: 'inherit',
})
for (const file of readdirSync(dist).filter((name) => name.endsWith('.d.ts'))) {
  // tsc does not change the `.ts` extension of imports in declaration files; the published modules are `.js`.
  const text = readFileSync(`${dist}/${file}`, 'utf8')
  writeFileSync(`${dist}/${file}`, text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
}
