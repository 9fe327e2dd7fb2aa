import { setTimeout as sleep } from 'node:timers/promises'
import { defaultPolling } from '../../../connectors/sync/src/polling.ts'
import { percentile } from '../../../connectors/sync/src/status.ts'
import type { Check, Context } from '../check.ts'
import { Random } from '../random.ts'
import type { LiveOdoo, OdooRow } from './live-odoo.ts'
import { pairOf } from './odoo-copy.ts'
import type { OdooPair } from './odoo-pair.ts'

/** Seconds, and the share of them that a sweep of 5 minutes may be late. */
const boundOf = (sweep: number) => ({ fields: 10, stock: 15, extras: 15, deletions: 1.2 * sweep })
type Kind = keyof ReturnType<typeof boundOf>

/**
 * From the response of Odoo to a write until its record has the value here: names of partners, stock and price extras of products, and
 * deletions. With the polls of production; the short form only sweeps more often.
 */
export const odooLag: Check = {
  name: 'odoo_lag',
  bound: 'p95 ≤ 10 s fields, 15 s stock and extras, 1.2 × the sweep deletions',
  needs: ['odoo'],
  async run(context) {
    const pair = await pairOf(context)
    const sweep = context.size(defaultPolling.sweep, 20)
    pair.configure(pair.odoo.access.url, { polling: { sweep } })
    const seen = new AbortController()
    try {
      const writes = await Writes.open(pair.odoo, context)
      await pair.once()
      pair.run()
      await pair.untilRunning()
      const arrivals = new Arrivals()
      const watching = [arrivals.watchProducts(pair, seen.signal), arrivals.watchPartners(pair, seen.signal)]
      // They are awaited below, and must not end the process before.
      for (const watch of watching) watch.catch(() => undefined)
      await sleep(2_000)
      const until = Date.now() + context.size(900, 80) * 1000
      for (let count = 0; Date.now() < until; count++) {
        arrivals.expect(
          await writes.one((['fields', 'stock', 'extras', 'deletions'] as const)[count % 4] ?? 'fields'),
        )
        await sleep(context.size(1_000, 700))
      }
      const end = Date.now() + 2_000 * sweep + 30_000
      while (arrivals.left > 0 && Date.now() < end) await sleep(250)
      seen.abort()
      await Promise.all(watching)
      await pair.end('SIGTERM')
      return outcome(arrivals, sweep)
    } finally {
      seen.abort()
      pair.configure(pair.odoo.access.url)
    }
  },
}

function outcome(arrivals: Arrivals, sweep: number) {
  const bounds = Object.entries(boundOf(sweep))
  const lags = new Map(bounds.map(([kind]) => [kind, arrivals.lags(kind)]))
  const p95 = (kind: string) => percentile(lags.get(kind) ?? [], 0.95) ?? Number.POSITIVE_INFINITY
  return {
    value: bounds.map(([kind]) => `${kind} ${p95(kind).toFixed(1)} s`).join(', '),
    ok: bounds.every(([kind, bound]) => p95(kind) <= bound),
    samples: Math.min(...[...lags.values()].map((one) => one.length)),
    note: [...lags]
      .map(
        ([kind, one]) =>
          `${kind}: ${one.length} writes, p50 ${percentile(one, 0.5)?.toFixed(1)} s, most ${Math.max(...one).toFixed(1)} s`,
      )
      .join('\n'),
  }
}

/** A value that a record will have here; undefined: it is deleted. */
interface Expected {
  readonly kind: Kind
  readonly resource: 'product' | 'partner'
  readonly key: number
  readonly field: 'name' | 'qty_available' | 'list_price'
  readonly value: unknown
  /** When Odoo responded to the write. */
  readonly since: number
}

class Arrivals {
  readonly #pending = new Map<string, Expected>()
  /** Values and when they came: one can be faster than the test of what it will be. */
  readonly #seen = new Map<string, { readonly value: unknown; readonly at: number }>()
  readonly #lags = new Map<string, number[]>()
  readonly #partners = new Map<number, number>()

  expect(one: Expected | undefined): void {
    if (one === undefined) return
    const place = `${one.resource} ${one.key} ${one.field}`
    this.#pending.set(place, one)
    const seen = this.#seen.get(place)
    if (seen !== undefined) this.#compare(place, seen)
  }

  get left(): number {
    return this.#pending.size
  }

  /** What has not arrived took without an end. */
  lags(kind: string): readonly number[] {
    const lost = [...this.#pending.values()].filter((one) => one.kind === kind)
    return [...(this.#lags.get(kind) ?? []), ...lost.map(() => Number.POSITIVE_INFINITY)]
  }

  async watchProducts({ qm }: OdooPair, signal: AbortSignal): Promise<void> {
    const fields = ['id', 'x_odoo_id', 'qty_available', 'list_price'] as const
    await untilAborted(signal, async () => {
      for await (const change of qm.products.watch({ fields, signal })) {
        if (!('record' in change)) continue
        const { x_odoo_id: key, qty_available, list_price } = change.record
        this.#arrived(`product ${key} qty_available`, qty_available)
        this.#arrived(`product ${key} list_price`, list_price)
      }
    })
  }

  async watchPartners({ qm }: OdooPair, signal: AbortSignal): Promise<void> {
    const fields = ['id', 'x_odoo_id', 'name'] as const
    for await (const { id, x_odoo_id: key } of qm.partners.all({ fields }))
      this.#partners.set(id, Number(key))
    await untilAborted(signal, async () => {
      for await (const change of qm.partners.watch({ fields, signal })) {
        if ('record' in change) {
          this.#partners.set(change.id, Number(change.record.x_odoo_id))
          this.#arrived(`partner ${change.record.x_odoo_id} name`, change.record.name)
        } else this.#arrived(`partner ${this.#partners.get(change.id)} name`, undefined)
      }
    })
  }

  #arrived(place: string, value: unknown): void {
    const seen = { value: rounded(value), at: Date.now() }
    this.#seen.set(place, seen)
    this.#compare(place, seen)
  }

  #compare(place: string, { value, at }: { readonly value: unknown; readonly at: number }): void {
    const found = this.#pending.get(place)
    if (found === undefined || found.value !== value) return
    this.#pending.delete(place)
    this.#lags.set(found.kind, [...(this.#lags.get(found.kind) ?? []), Math.max(0, at - found.since) / 1000])
  }
}

/** A price of Odoo is a double: 0.30000000000000004. */
function rounded(value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 1e6) / 1e6 : value
}

async function untilAborted(signal: AbortSignal, watch: () => Promise<void>): Promise<void> {
  try {
    await watch()
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

const everyCompany = { active_test: false, lang: 'en_US', tz: 'UTC' }

/** One write of each kind, each to a record that has no other write. */
class Writes {
  readonly #odoo: LiveOdoo
  readonly #partners: number[]
  readonly #doomed: number[]
  readonly #storable: number[]
  readonly #extras: OdooRow[]
  readonly #location: number
  readonly #companies: readonly number[]
  #count = 0

  private constructor(
    odoo: LiveOdoo,
    found: {
      partners: number[]
      doomed: number[]
      storable: number[]
      extras: OdooRow[]
      location: number
      companies: number[]
    },
  ) {
    this.#odoo = odoo
    this.#partners = found.partners
    this.#doomed = found.doomed
    this.#storable = found.storable
    this.#extras = found.extras
    this.#location = found.location
    this.#companies = found.companies
  }

  static async open(odoo: LiveOdoo, context: Context): Promise<Writes> {
    const random = new Random(context.seed, 4)
    const companies: number[] = await odoo.write('res.company', 'search', { domain: [], order: 'id' })
    const [warehouse]: OdooRow[] = await odoo.write('stock.warehouse', 'search_read', {
      domain: [['company_id', '=', companies[0]]],
      fields: ['lot_stock_id'],
      order: 'id',
      limit: 1,
      load: null,
    })
    const ids = (model: string, domain: unknown) =>
      odoo.write(model, 'search', { domain, order: 'id', limit: 2_000 })
    const doomed = Array.from({ length: context.size(300, 40) }, (_, i) => ({ name: `Doomed ${i}` }))
    return new Writes(odoo, {
      partners: random.shuffled<number>(await ids('res.partner', [['name', 'like', 'Partner ']])),
      doomed: await odoo.write('res.partner', 'create', { vals_list: doomed }),
      storable: random.shuffled<number>(
        await ids('product.product', [
          ['is_storable', '=', true],
          ['company_id', '=', false],
        ]),
      ),
      extras: random.shuffled<OdooRow>(
        await odoo.write('product.template.attribute.value', 'search_read', {
          domain: [],
          fields: ['ptav_product_variant_ids', 'price_extra'],
          limit: 1_000,
          order: 'id',
        }),
      ),
      location: Number(warehouse?.['lot_stock_id']),
      companies,
    })
  }

  /** Undefined if the write has changed nothing that the connector sees. */
  async one(kind: Kind): Promise<Expected | undefined> {
    switch (kind) {
      case 'fields': {
        const [key = 0, value] = [this.#partners.pop(), `Partner ${Date.now()} ${++this.#count}`]
        await this.#odoo.write('res.partner', 'write', { ids: [key], vals: { name: value } })
        return { kind, resource: 'partner', key, field: 'name', value, since: Date.now() }
      }
      case 'deletions': {
        const key = this.#doomed.pop()
        if (key === undefined) return undefined
        await this.#odoo.write('res.partner', 'unlink', { ids: [key] })
        return { kind, resource: 'partner', key, field: 'name', value: undefined, since: Date.now() }
      }
      case 'stock':
        return await this.#stock(this.#storable.pop() ?? 0)
      case 'extras':
        return await this.#extra()
      default:
        return kind satisfies never
    }
  }

  async #stock(key: number): Promise<Expected | undefined> {
    const before = await this.#value(key, 'qty_available')
    const context = { inventory_mode: true, allowed_company_ids: this.#companies.slice(0, 1) }
    const quant = { product_id: key, location_id: this.#location, inventory_quantity: 1_000 + ++this.#count }
    const ids: number[] = await this.#odoo.write('stock.quant', 'create', { vals_list: [quant], context })
    await this.#odoo.write('stock.quant', 'action_apply_inventory', { ids, context })
    const since = Date.now()
    const value = await this.#value(key, 'qty_available')
    return value === before
      ? undefined
      : { kind: 'stock', resource: 'product', key, field: 'qty_available', value, since }
  }

  async #extra(): Promise<Expected | undefined> {
    const row = this.#extras.pop()
    const [key] = [row?.['ptav_product_variant_ids']].flat()
    if (row === undefined || typeof key !== 'number') return undefined
    const before = await this.#value(key, 'lst_price')
    const vals = { price_extra: Number(row['price_extra']) + 1.25 }
    await this.#odoo.write('product.template.attribute.value', 'write', { ids: [row.id], vals })
    const since = Date.now()
    const value = await this.#value(key, 'lst_price')
    return value === before
      ? undefined
      : { kind: 'extras', resource: 'product', key, field: 'list_price', value, since }
  }

  async #value(key: number, field: string): Promise<unknown> {
    const context = { ...everyCompany, allowed_company_ids: this.#companies }
    const rows: OdooRow[] = await this.#odoo.read('product.product', 'search_read', {
      domain: [['id', '=', key]],
      fields: [field],
      context,
    })
    return rounded(rows[0]?.[field])
  }
}
