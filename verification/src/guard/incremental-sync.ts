import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Product, Quartermaster } from '../../../client/src/index.ts'
import type { Check, Context } from '../check.ts'
import { packed } from '../integrators/packed.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'

const account = 'acme'
const program = fileURLToPath(new URL('../../../examples/incremental-sync.ts', import.meta.url))

/** Runs the program of the guide again and again while three processes create and change products. */
export const incrementalSync: Check = {
  name: 'incremental_sync',
  bound: '0 lost of 10,000 creates (quick: 1,500) and half as many changes',
  async run(context) {
    const archive = await packed(context)
    const folder = await archive.project('incremental-sync', {
      'package.json': '{"private":true,"type":"module"}',
      'incremental-sync.ts': readFileSync(program, 'utf8'),
    })
    const service = await Service.start()
    try {
      const key = await service.account(account)
      await importProducts(service)
      const ports: number[] = []
      for (let n = 0; n < 3; n++)
        ports.push((await service.serve({ QUARTERMASTER_DEFAULT_ACCOUNT: account })).port)
      return await measure(context, folder, key, ports)
    } finally {
      await service.stop()
    }
  },
}

interface Target {
  readonly url: string
  readonly qm: Quartermaster
}

/** So many that the first run of the program takes a while, in which they are changed. */
const imported = 20_000

async function importProducts(service: Service): Promise<void> {
  const file = join(service.folder, 'product.ndjson')
  const line = (_: unknown, n: number) => `${JSON.stringify({ id: n + 1, name: `Product ${n + 1}` })}\n`
  writeFileSync(file, Array.from({ length: imported }, line).join(''))
  await service.command(['import', 'product', file, '--account', account])
}

async function measure(context: Context, folder: string, key: string, ports: readonly number[]) {
  const targets = ports.map((port): Target => {
    const url = `http://127.0.0.1:${port}`
    return { url, qm: new Quartermaster({ baseUrl: url, apiKey: key }) }
  })
  const random = new Random(context.seed, 73)
  let runs = 0
  const sync = async () => {
    const environment = { QUARTERMASTER_URL: random.pick(targets).url, QUARTERMASTER_KEY: key }
    const env = { ...process.env, ...environment }
    await promisify(execFile)(process.execPath, ['incremental-sync.ts', 'copy.json'], { cwd: folder, env })
    runs += 1
  }
  const load = { isRunning: true }
  const creates = context.size(10_000, 1_500)
  const writing = write(context, targets, key, creates).finally(() => (load.isRunning = false))
  writing.catch(() => undefined)
  while (load.isRunning) await sync()
  await writing
  const during = runs
  await sync()
  const copy: { products: Record<number, Product> } = JSON.parse(
    readFileSync(join(folder, 'copy.json'), 'utf8'),
  )
  const wrong: string[] = []
  let records = 0
  for await (const product of random.pick(targets).qm.products.export()) {
    records += 1
    const [has, copied] = [JSON.stringify(product), JSON.stringify(copy.products[product.id])]
    if (has !== copied) wrong.push(`stored ${has}, copied ${copied}`)
  }
  return {
    value: `${wrong.length} lost of ${grouped(creates)} creates and ${grouped(creates / 2)} changes`,
    samples: Math.min(records, during),
    ok: wrong.length === 0 && records === imported + creates && during >= context.size(20, 3),
    note: [`${during} runs while 3 processes wrote, ${grouped(records)} records`, ...wrong.slice(0, 5)].join(
      '\n',
    ),
  }
}

/** A create, a create with an Idempotency-Key, and a change of any product: mostly an old one, so that all pages of a run change. */
async function write(
  context: Context,
  targets: readonly Target[],
  key: string,
  creates: number,
): Promise<void> {
  const progress = context.progress('writes', creates * 1.5)
  const ids = Array.from({ length: imported }, (_, n) => n + 1)
  await inParallel(creates * 1.5, 12, async (index) => {
    const random = new Random(context.seed, 74, index)
    const { url, qm } = random.pick(targets)
    const name = `Created ${index}`
    if (index % 3 === 0) ids.push(await createWithoutKey(url, key, name))
    else if (index % 3 === 1) ids.push((await qm.products.create({ name })).id)
    else await qm.products.update(random.pick(ids), { qty_available: index + 1 })
    progress.step()
  })
  progress.end()
}

/** The client sends an Idempotency-Key with every create; another statement creates records without one. */
async function createWithoutKey(url: string, key: string, name: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/inventory/product`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  })
  const body: { data?: { id: number } } = JSON.parse(await response.text())
  if (response.status !== 201 || body.data === undefined)
    throw new Error(`${response.status} ${JSON.stringify(body)}`)
  return body.data.id
}
