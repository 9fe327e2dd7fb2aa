import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { resources } from '../../../server/src/catalog/resources.ts'
import { demoProducts } from '../../../server/src/cli/demo/demo-data.ts'

export const columns = resources.product.fields.map((field) => field.name)

type Cell = string | number | boolean | null | undefined

/** Writes products as CSV. `change` may replace a record, or omit it by returning null. */
export async function writeProducts(
  path: string,
  count: number,
  seed: number,
  change: (record: Record<string, Cell>) => Record<string, Cell> | null = (record) => record,
): Promise<number> {
  const file = createWriteStream(path)
  let written = 0
  let chunk = `${columns.join(',')}\n`
  for (const record of demoProducts(count, seed)) {
    const changed = change(record)
    if (changed === null) continue
    chunk += `${columns.map((column) => cell(changed[column])).join(',')}\n`
    written++
    if (chunk.length > 1 << 20) {
      if (!file.write(chunk)) await once(file, 'drain')
      chunk = ''
    }
  }
  file.end(chunk)
  await finished(file)
  return written
}

function cell(value: Cell): string {
  if (value === null || value === undefined) return ''
  const text = String(value)
  return text === '' || /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
