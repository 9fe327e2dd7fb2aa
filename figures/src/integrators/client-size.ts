import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import type { Figure } from '../figure.ts'
import { packed } from './packed.ts'

const bytesMax = 15 * 1024

/** All of the packed client, minified and compressed, as a browser would load it. */
export const clientSize: Figure = {
  name: 'client_size',
  bound: '≤ 15 KB gzip',
  async run(context) {
    const archive = await packed(context)
    const files = {
      'package.json': '{"private":true,"type":"module"}',
      'main.js': "export * from '@quartermaster/client'\n",
    }
    const folder = await archive.project('size', files)
    await build({
      root: folder,
      configFile: false,
      logLevel: 'error',
      build: { minify: true, lib: { entry: join(folder, 'main.js'), formats: ['es'], fileName: 'all' } },
    })
    // Vite leaves white space in an ES library, for whoever bundles it next; a browser's own build does not.
    const { minifySync } = await import('vite').then(({ minifySync: minify }) => ({ minifySync: minify }))
    const { code } = minifySync('all.js', readFileSync(join(folder, 'dist/all.js'), 'utf8'), { module: true })
    const bytes = gzipSync(code, { level: 9 }).length
    return {
      value: `${(bytes / 1024).toFixed(1)} KB gzip, ${(code.length / 1024).toFixed(1)} KB plain`,
      ok: bytes <= bytesMax,
    }
  },
}
