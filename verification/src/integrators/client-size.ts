import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { minifySync } from 'vite'
import type { Check } from '../check.ts'
import { output, packed, vite } from './packed.ts'

const completeBytesMax = 16 * 1024
const bytesMax = 15 * 1024

/** What a program that reads and writes imports: a bundle leaves out the receivers of webhooks, the cache, and errors that it does not name. */
const usual = "export { filter, Quartermaster } from '@quartermaster/client'\n"
const complete = "export * from '@quartermaster/client'\n"

/** The size of the packed client, minified and compressed: what most programs need of it, and all of it. */
export const clientSize: Check = {
  name: 'client_size',
  bound: '≤ 15 KB gzip, ≤ 16 KB complete',
  async run(context) {
    const archive = await packed(context)
    const bytesOf = async (name: string, program: string) => {
      const folder = await archive.project(name, {
        'package.json': '{"private":true,"type":"module"}',
        'main.js': program,
        'vite.config.js':
          "export default { build: { lib: { entry: 'main.js', formats: ['es'], fileName: 'all' } } }\n",
      })
      await output(process.execPath, [vite, 'build', '--logLevel', 'error'], folder)
      // Vite does not remove white space from a library.
      const built = readFileSync(join(folder, 'dist/all.js'), 'utf8')
      return gzipSync(minifySync('all.js', built, { module: true }).code, { level: 9 }).length
    }
    const [bytes, completeBytes] = [await bytesOf('size', usual), await bytesOf('size-complete', complete)]
    return {
      value: `${(bytes / 1024).toFixed(1)} KB gzip, ${(completeBytes / 1024).toFixed(1)} KB complete`,
      samples: bytes,
      ok: bytes <= bytesMax && completeBytes <= completeBytesMax,
    }
  },
}
