import { setTimeout as sleep } from 'node:timers/promises'
import { defaultPolling } from '../../../connectors/sync/src/polling.ts'
import type { Check } from '../check.ts'
import { pairOf } from './odoo-copy.ts'
import { comparedResources, type OdooPair, odooFields } from './odoo-pair.ts'

const shareMax = 0.05
const ratioMax = 1.2

/**
 * While nothing changes in Odoo, nothing is written here, and Odoo has little to do. With the polls of production, whose window has passed
 * before. CPU time is that of the processes, so other work on the machine does not count.
 */
export const odooIdle: Check = {
  name: 'odoo_idle',
  bound: `0 writes, ≤ ${shareMax * 100} % of a core`,
  needs: ['odoo'],
  async run(context) {
    const pair = await pairOf(context)
    const seconds = context.size(600, 60)
    const window = context.size(defaultPolling.window, 60)
    pair.configure(pair.odoo.access.url, { polling: { window } })
    try {
      await untilQuiet(pair, window)
      await pair.once()
      const alone = await cpuShare(pair, seconds)
      pair.run()
      await pair.untilRunning()
      // The first round of all polls is not idle.
      await sleep(5_000)
      const before = await versionsOf(pair)
      const share = await cpuShare(pair, seconds)
      const writes = (await versionsOf(pair)).filter((version, at) => version !== before[at]).length
      await pair.end('SIGTERM')
      const extra = share - alone
      const products: number = await pair.odoo.read('product.product', 'search_count', { domain: [] })
      return {
        value: `${writes} writes, ${(100 * extra).toFixed(1)} % of a core`,
        ok: writes === 0 && extra <= shareMax,
        samples: seconds,
        note: `${products} products. CPU of Odoo and its database: ${(100 * share).toFixed(1)} %, without the connector ${(100 * alone).toFixed(1)} %`,
      }
    } finally {
      pair.configure(pair.odoo.access.url)
    }
  },
}

/** Until the last write of any record is older than the window: before, late scans read it again. */
async function untilQuiet({ odoo }: OdooPair, window: number): Promise<void> {
  for (const model of ['product.product', 'res.partner', 'stock.move.line', 'stock.quant']) {
    const [newest]: { write_date: string }[] = await odoo.read(model, 'search_read', {
      domain: [],
      fields: ['write_date'],
      order: 'write_date desc',
      limit: 1,
      context: { active_test: false },
    })
    const age = newest === undefined ? window : Date.now() / 1000 - Date.parse(`${newest.write_date}Z`) / 1000
    await sleep(1000 * Math.max(0, window + defaultPolling.late - age))
  }
}

async function cpuShare({ odoo }: OdooPair, seconds: number): Promise<number> {
  const before = odoo.cpuSeconds()
  await sleep(seconds * 1000)
  return (odoo.cpuSeconds() - before) / seconds
}

async function versionsOf({ qm }: OdooPair): Promise<readonly (string | undefined)[]> {
  const [products, partners, companies] = await Promise.all([
    qm.products.list({ limit: 1 }),
    qm.partners.list({ limit: 1 }),
    qm.companies.list({ limit: 1 }),
  ])
  return [products.version, partners.version, companies.version]
}

/** The first load next to a bare walk of the same fields, which writes nothing. Both in turn, and the fastest of each. */
export const odooFirstLoad: Check = {
  name: 'odoo_first_load',
  bound: `≤ ${ratioMax} × a bare walk`,
  needs: ['odoo'],
  async run(context) {
    const pair = await pairOf(context)
    const [walks, loads]: [number[], number[]] = [[], []]
    // Declares the fields, and loads the registry of Odoo's workers.
    await pair.once()
    for (let round = 0; round < context.size(5, 3); round++) {
      const began = performance.now()
      let rows = 0
      for (const resource of comparedResources) {
        const { model, fields } = odooFields(resource)
        rows += (await pair.odoo.all(model, [...fields, 'create_date', 'write_date'])).length
      }
      walks.push((performance.now() - began) / 1000 / rows)
      await emptied(pair)
      pair.loseState()
      await pair.once()
      const found = [...pair.log.matchAll(/: (\d+) rows in ([\d.]+) s, (\d+) inserted/g)]
      const loaded = found.reduce((total, [, , , inserted]) => total + Number(inserted), 0)
      if (loaded < rows * 0.9) throw new Error(`${loaded} of ${rows} rows were inserted:\n${pair.log}`)
      loads.push(found.reduce((total, [, , seconds]) => total + Number(seconds), 0) / loaded)
    }
    const [walk, load] = [Math.min(...walks), Math.min(...loads)]
    return {
      value: `${(load / walk).toFixed(2)} ×`,
      ok: load / walk <= ratioMax,
      samples: loads.length,
      note: `${(load * 1000).toFixed(2)} ms a row; the walk ${(walk * 1000).toFixed(2)} ms`,
    }
  },
}

async function emptied(pair: OdooPair): Promise<void> {
  for (const resource of comparedResources) {
    const rows: object[] = []
    const all = { fields: ['id', 'x_odoo_id'], filter: 'x_odoo_id!=null' }
    for await (const { x_odoo_id: id } of pair.records(resource).all(all))
      rows.push({ $delete: { x_odoo_id: id } })
    await pair.records(resource).upsert(rows, { key: 'x_odoo_id', onRejected: () => undefined })
  }
}
