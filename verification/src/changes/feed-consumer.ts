import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { type Product, Quartermaster, type SyncBatch } from '../../../client/src/index.ts'

/**
 * A program that keeps a copy of the products, as in the guide: `sync()`, and a file that survives a kill. Started by
 * `feed-copy.ts`, which kills it at any time. Arguments: the file, the URL. The key is in QM_KEY.
 */
const [file = '', baseUrl = ''] = process.argv.slice(2)
const qm = new Quartermaster({ baseUrl, apiKey: process.env['QM_KEY'] ?? '' })

// A line that a kill has cut off has no line feed: the batch counts as not received.
const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
const whole = text.slice(0, text.lastIndexOf('\n') + 1)
if (whole.length < text.length) appendFileSync(file, '\n')
const last = whole
  .split('\n')
  .filter((line) => line.startsWith('{') && line.endsWith('}'))
  .at(-1)
const batch: SyncBatch<Product> | undefined = last === undefined ? undefined : JSON.parse(last)

for await (const next of qm.products.sync({ since: batch?.state })) {
  appendFileSync(file, `${JSON.stringify(next)}\n`)
}
