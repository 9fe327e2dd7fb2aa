import { createWriteStream, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import type { Check } from '../../../verification/src/check.ts'
import { Client, headersFor } from '../../../verification/src/client.ts'
import { seconds } from '../../../verification/src/import/bare-copy.ts'
import { Service } from '../../../verification/src/service.ts'
import { median } from '../numbers.ts'

const path = '/api/v1/inventory/product'
const rounds = 3

/** A batch of new rows by a unique field, and one of the same rows by id, into empty accounts; and the same rows a second time. */
export const batchByKey: Check = {
  name: 'batch_by_key',
  bound: '≤ 1.3 × by id',
  async run(context) {
    const rows = context.size(100_000, 10_000)
    const service = await Service.start({ shared_buffers: '512MB', max_wal_size: '8GB' })
    const client = new Client(1)
    try {
      const { port } = await service.serve()
      const byId = linesOf(rows, (n) => ({ id: n, default_code: `S-${n}` }))
      const byKey = linesOf(rows, (n) => ({ x_sku: `S-${n}` }))
      const times = {
        id: [] as number[],
        key: [] as number[],
        idAgain: [] as number[],
        keyAgain: [] as number[],
      }
      for (let n = 0; n <= context.size(rounds, 1); n++) {
        const [ids, keys] = [`ids-${n}`, `keys-${n}`]
        const idHeaders = headersFor(ids, await service.account(ids))
        const keyHeaders = headersFor(keys, await service.account(keys))
        await service.command(['field', 'create', 'product', 'x_sku', 'text', '--unique', '--account', keys])
        const sends = [
          [times.id, idHeaders, `${path}/batch`, byId, `"inserted":${rows}`],
          [times.key, keyHeaders, `${path}/batch?key=x_sku`, byKey, `"inserted":${rows}`],
          [times.idAgain, idHeaders, `${path}/batch`, byId, `"unchanged":${rows}`],
          [times.keyAgain, keyHeaders, `${path}/batch?key=x_sku`, byKey, `"unchanged":${rows}`],
        ] as const
        for (const [measured, headers, target, body, expected] of sends) {
          const took = await seconds(async () => {
            const sent = { port, method: 'POST', path: target, body } as const
            const { status, text } = await client.send({
              ...sent,
              headers: [...headers, 'Content-Type', 'application/x-ndjson'],
            })
            if (status !== 200 || !text.includes(expected)) throw new Error(`${status} ${text.slice(-300)}`)
          })
          // The first round loads code and opens connections.
          if (n > 0) measured.push(took)
        }
      }
      const [id, key, idAgain, keyAgain] = [times.id, times.key, times.idAgain, times.keyAgain].map(median)
      const ratio = (key ?? 0) / (id ?? 0)
      return {
        value: `${ratio.toFixed(2)} (${key?.toFixed(2)} ÷ ${id?.toFixed(2)} s)`,
        samples: rows,
        ok: ratio <= 1.3,
        note: `again, when nothing differs: ${((keyAgain ?? 0) / (idAgain ?? 0)).toFixed(2)} (${keyAgain?.toFixed(2)} ÷ ${idAgain?.toFixed(2)} s)`,
      }
    } finally {
      client.close()
      await service.stop()
    }
  },
}

function linesOf(rows: number, key: (n: number) => object): string {
  let text = ''
  for (let n = 1; n <= rows; n++)
    text += `${JSON.stringify({ ...key(n), name: `Hex bolt ${n}`, list_price: (n % 9973) / 100 })}\n`
  return text
}

const declared = [
  'text',
  'text',
  'text',
  'text',
  'integer',
  'integer',
  'integer',
  'decimal',
  'boolean',
  'timestamp',
] as const

/** `quartermaster import` of products with ten declared values each, and of the same products without. */
export const importTenFields: Check = {
  name: 'import_ten_fields',
  bound: '≤ 2 × without',
  async run(context) {
    const rows = context.size(200_000, 20_000)
    const service = await Service.start({ shared_buffers: '512MB', max_wal_size: '8GB' })
    const [plain, own] = ['plain', 'own'].map((name) => join(service.folder, `${name}.csv`))
    if (plain === undefined || own === undefined) throw new Error('no files')
    try {
      await writeRows(plain, rows, [])
      await writeRows(own, rows, declared)
      const times = { plain: [] as number[], own: [] as number[] }
      for (let n = 0; n < context.size(rounds, 1); n++) {
        for (const [name, file] of [
          ['plain', plain],
          ['own', own],
        ] as const) {
          const account = `${name}-${n}`
          await service.account(account)
          if (name === 'own')
            for (const [i, type] of declared.entries())
              await service.command(['field', 'create', 'product', `x_f${i}`, type, '--account', account])
          times[name].push(
            await seconds(() => service.command(['import', 'product', file, '--account', account])),
          )
        }
      }
      const ratio = median(times.own) / median(times.plain)
      const bytes = (await readFile(own)).length / (await readFile(plain)).length
      return {
        value: `${ratio.toFixed(2)} (${median(times.own).toFixed(1)} ÷ ${median(times.plain).toFixed(1)} s)`,
        samples: rows,
        ok: ratio <= 2,
        note: `the file is ${bytes.toFixed(1)} times as large`,
      }
    } finally {
      for (const file of [plain, own]) rmSync(file, { force: true })
      await service.stop()
    }
  },
}

async function writeRows(
  file: string,
  rows: number,
  types: readonly (typeof declared)[number][],
): Promise<void> {
  const values = {
    text: (n: number) => `value ${(n * 7919) % 100_003}`,
    integer: (n: number) => String((n * 31) % 5_000),
    decimal: (n: number) => (((n * 7919) % 100_000) / 100).toString(),
    boolean: (n: number) => String(n % 2 === 0),
    timestamp: (n: number) => new Date(1.7e12 + n * 60_000).toISOString(),
  }
  const out = createWriteStream(file)
  out.write(`id,name,list_price${types.map((_, i) => `,x_f${i}`).join('')}\n`)
  let text = ''
  for (let n = 1; n <= rows; n++) {
    const own = types.map((type, i) => `,${values[type](n + i)}`).join('')
    text += `${n},Hex bolt ${n},${(n % 9973) / 100}${own}\n`
  }
  out.end(text)
  await finished(out)
}
