import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'
import type { LiveOdoo, OdooRow } from './live-odoo.ts'

const off = { active_test: false }

/** Writes to Odoo what people write: prices, names, codes, stock, partners; creates, archives and deletes. */
export class OdooWriter {
  /** Acknowledged writes by kind, and refused ones. */
  readonly counts: Record<string, number> = {}
  readonly #odoo: LiveOdoo
  readonly #random: Random
  readonly #variants: Map<number, number[]>
  readonly #storable: number[]
  readonly #partners: number[]
  readonly #extras: number[]
  readonly #location: number
  readonly #companies: readonly number[]
  readonly #born: { readonly model: string; readonly id: number }[] = []
  #count = 0

  private constructor(
    odoo: LiveOdoo,
    random: Random,
    found: {
      products: OdooRow[]
      partners: number[]
      extras: number[]
      location: number
      companies: number[]
    },
  ) {
    this.#odoo = odoo
    this.#random = random
    this.#variants = Map.groupBy(found.products, (row) => Number(row['product_tmpl_id']))
      .entries()
      .reduce(
        (all, [id, rows]) =>
          all.set(
            id,
            rows.map((row) => row.id),
          ),
        new Map<number, number[]>(),
      )
    this.#storable = found.products.filter((row) => row['is_storable'] === true).map((row) => row.id)
    this.#partners = found.partners
    this.#extras = found.extras
    this.#location = found.location
    this.#companies = found.companies
  }

  static async open(odoo: LiveOdoo, random: Random): Promise<OdooWriter> {
    const companies: number[] = await odoo.write('res.company', 'search', { domain: [], order: 'id' })
    const [warehouse]: OdooRow[] = await odoo.write('stock.warehouse', 'search_read', {
      domain: [['company_id', '=', companies[0]]],
      fields: ['lot_stock_id'],
      order: 'id',
      limit: 1,
      load: null,
    })
    return new OdooWriter(odoo, random, {
      products: await odoo.write('product.product', 'search_read', {
        domain: [['company_id', '=', false]],
        fields: ['product_tmpl_id', 'is_storable'],
        context: off,
        load: null,
        order: 'id',
      }),
      partners: await odoo.write('res.partner', 'search', {
        domain: [['name', 'like', 'Partner ']],
        context: off,
        order: 'id',
      }),
      extras: await odoo.write('product.template.attribute.value', 'search', {
        domain: [],
        limit: 300,
        order: 'id',
      }),
      location: Number(warehouse?.['lot_stock_id']),
      companies,
    })
  }

  /** Until the time, at most `rate` writes a second, by so many users at once. */
  async run(until: number, rate: number, sessions: number): Promise<void> {
    const session = async () => {
      while (Date.now() < until) {
        const began = Date.now()
        await this.#one()
        await sleep(Math.max(0, (1000 * sessions) / rate - (Date.now() - began)))
      }
    }
    await Promise.all(Array.from({ length: sessions }, session))
  }

  async #one(): Promise<void> {
    const kinds = [
      ...repeated('price', 6),
      ...repeated('twice', 2),
      ...repeated('partner', 4),
      ...repeated('stock', 3),
      'name',
      'name',
      'code',
      'archive',
      'create',
      'create',
      'unlink',
      'extra',
      'cost',
      'french',
    ] as const
    const kind = this.#random.pick(kinds)
    try {
      await this.#write(kind)
      this.counts[kind] = (this.counts[kind] ?? 0) + 1
    } catch {
      // Two wrote the same record at once, or a record is in use: Odoo has refused it, as it does in daily use.
      this.counts['refused'] = (this.counts['refused'] ?? 0) + 1
    }
  }

  async #write(kind: string): Promise<void> {
    const [odoo, random] = [this.#odoo, this.#random]
    const template = () => [random.pick([...this.#variants.keys()])]
    const price = () => random.integer(100, 90_000) / 100
    const name = `${kind} ${++this.#count}`
    switch (kind) {
      case 'price':
        return void (await odoo.write('product.template', 'write', {
          ids: template(),
          vals: { list_price: price() },
        }))
      case 'twice': {
        // Two transactions on one record within a second.
        const ids = template()
        await odoo.write('product.template', 'write', { ids, vals: { list_price: price() } })
        return void (await odoo.write('product.template', 'write', { ids, vals: { list_price: price() } }))
      }
      case 'name':
        return void (await odoo.write('product.template', 'write', {
          ids: template(),
          vals: { name },
          context: { lang: 'en_US' },
        }))
      case 'french':
        return void (await odoo.write('product.template', 'write', {
          ids: template(),
          vals: { name },
          context: { lang: 'fr_FR' },
        }))
      case 'code':
        return void (await odoo.write('product.product', 'write', {
          ids: [random.pick(this.#storable)],
          vals: { default_code: name },
        }))
      case 'cost': {
        const context = { allowed_company_ids: [random.pick(this.#companies)] }
        return void (await odoo.write('product.template', 'write', {
          ids: template(),
          vals: { standard_price: price() },
          context,
        }))
      }
      case 'extra':
        return void (await odoo.write('product.template.attribute.value', 'write', {
          ids: [random.pick(this.#extras)],
          vals: { price_extra: price() / 100 },
        }))
      case 'partner':
        return void (await odoo.write('res.partner', 'write', {
          ids: [random.pick(this.#partners)],
          vals: { name: `Partner ${name}`, email: `${this.#count}@example.com` },
        }))
      case 'archive':
        return await this.#archive()
      case 'stock':
        return await this.#stock()
      case 'create':
        return await this.#create(name)
      default:
        return await this.#unlink()
    }
  }

  async #archive(): Promise<void> {
    const method = this.#random.pick(['action_archive', 'action_unarchive'])
    const isPartner = this.#random.chance(0.5)
    const id = this.#random.pick(isPartner ? this.#partners : [...this.#variants.keys()])
    await this.#odoo.write(isPartner ? 'res.partner' : 'product.template', method, { ids: [id] })
  }

  /** An inventory adjustment, one in four to nothing. */
  async #stock(): Promise<void> {
    const context = { inventory_mode: true, allowed_company_ids: this.#companies.slice(0, 1) }
    const quantity = this.#random.chance(0.25) ? 0 : this.#random.integer(1, 400)
    const ids: number[] = await this.#odoo.write('stock.quant', 'create', {
      vals_list: [
        {
          product_id: this.#random.pick(this.#storable),
          location_id: this.#location,
          inventory_quantity: quantity,
        },
      ],
      context,
    })
    await this.#odoo.write('stock.quant', 'action_apply_inventory', { ids, context })
  }

  async #create(name: string): Promise<void> {
    const model = this.#random.pick(['product.template', 'res.partner'])
    const count = this.#random.pick([1, 1, 10])
    const vals_list = Array.from({ length: count }, (_, i) => ({ name: `${name} ${i}` }))
    const ids: number[] = await this.#odoo.write(model, 'create', { vals_list })
    this.#born.push(...ids.map((id) => ({ model, id })))
  }

  async #unlink(): Promise<void> {
    const [gone] = this.#born.splice(this.#random.integer(0, Math.max(0, this.#born.length - 1)), 1)
    if (gone !== undefined) await this.#odoo.write(gone.model, 'unlink', { ids: [gone.id] })
  }
}

function repeated<const K extends string>(kind: K, times: number): readonly K[] {
  return Array.from({ length: times }, () => kind)
}
