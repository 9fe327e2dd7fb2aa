import { execFileSync } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

/** Makes `dist`, which is what the package ships: one module with the filter language in it, and its types. */

const root = fileURLToPath(new URL('.', import.meta.url))
const dist = `${root}dist`

rmSync(dist, { recursive: true, force: true })
await build({
  root,
  configFile: false,
  logLevel: 'warn',
  build: {
    outDir: dist,
    target: 'es2022',
    // Readable where somebody steps into it; whoever builds for a browser minifies the whole.
    minify: false,
    lib: { entry: `${root}src/index.ts`, formats: ['es'], fileName: 'index' },
  },
})
execFileSync(`${root}../node_modules/.bin/tsc`, ['-p', `${root}tsconfig.json`], { stdio: 'inherit' })
for (const file of readdirSync(dist).filter((name) => name.endsWith('.d.ts'))) {
  // The compiler leaves the extension in types as it is in the sources; the published files are not those.
  const text = readFileSync(`${dist}/${file}`, 'utf8')
  writeFileSync(`${dist}/${file}`, text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
}
copyFileSync(`${root}../LICENSE`, `${dist}/LICENSE`)
