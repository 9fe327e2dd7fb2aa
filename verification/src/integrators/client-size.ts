import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { minifySync } from 'vite'
import type { Check } from '../check.ts'
import { output, packed, vite } from './packed.ts'

const bytesMax = 15 * 1024

/** The size of the complete packed client, minified and compressed. */
export const clientSize: Check = {
  name: 'client_size',
  bound: '≤ 15 KB gzip',
  async run(context) {
    const archive = await packed(context)
    const folder = await archive.project('size', {
      'package.json': '{"private":true,"type":"module"}',
      'main.js': "export * from '@quartermaster/client'\n",
      'vite.config.js':
        "export default { build: { lib: { entry: 'main.js', formats: ['es'], fileName: 'all' } } }\n",
    })
    await output(process.execPath, [vite, 'build', '--logLevel', 'error'], folder)
    // Vite does not remove white space from a library.
    const built = readFileSync(join(folder, 'dist/all.js'), 'utf8')
    const { code } = minifySync('all.js', built, { module: true })
    const bytes = gzipSync(code, { level: 9 }).length
    return {
      value: `${(bytes / 1024).toFixed(1)} KB gzip, ${(code.length / 1024).toFixed(1)} KB plain`,
      samples: code.length,
      ok: bytes <= bytesMax,
    }
  },
}
