import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'

/**
 * A stand-in for JSON-2 of Odoo 19 with any number of products, which it makes when they are asked for. Nothing changes in it: it is there for
 * the connector's memory only.
 */

const fields: Record<string, unknown> = JSON.parse(
  readFileSync(new URL('../../../connectors/odoo/test/fields-get.json', import.meta.url), 'utf8'),
)
const old = '2026-03-01 10:00:00'

interface Arguments {
  readonly domain?: readonly (readonly [field: string, operator: string, value: number])[]
  readonly limit?: number
}

export class LargeOdoo {
  readonly #server: Server
  readonly #products: number

  private constructor(products: number) {
    this.#products = products
    this.#server = createServer((request, response) => {
      let text = ''
      request.setEncoding('utf8')
      request.on('data', (chunk: string) => (text += chunk))
      request.once('end', () => {
        response.writeHead(200, { 'content-type': 'application/json', connection: 'close' })
        response.end(JSON.stringify(this.#resultOf(request.url ?? '', text)))
      })
    })
  }

  static async start(products: number): Promise<LargeOdoo> {
    const odoo = new LargeOdoo(products)
    await new Promise<void>((resolve) => odoo.#server.listen(0, '127.0.0.1', resolve))
    return odoo
  }

  get url(): string {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : ''
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #resultOf(url: string, text: string): unknown {
    if (url === '/json/version') return { version_info: [19, 0, 0, 'final', 0, ''] }
    const [, , , model = '', method = ''] = url.split('/')
    const found: Arguments = JSON.parse(text)
    if (method === 'context_get') return { uid: 5 }
    if (method === 'fields_get') return fields[model] ?? {}
    if (model === 'res.company') return [{ id: 1, name: 'Company' }]
    if (model === 'res.users') return [1, 5].map((id) => ({ id, create_date: old }))
    if (model !== 'product.product') return []
    const ids = this.#idsOf(found)
    return method === 'search' ? ids : ids.map(product)
  }

  #idsOf({ domain = [], limit = this.#products }: Arguments): readonly number[] {
    const conditions = new Map(domain.map(([field, operator, value]) => [`${field} ${operator}`, value]))
    if (conditions.has('write_date >=')) return []
    const wanted: unknown = conditions.get('id in')
    if (Array.isArray(wanted)) return wanted
    const after = conditions.get('id >') ?? 0
    return Array.from(
      { length: Math.max(0, Math.min(limit, this.#products - after)) },
      (_, i) => after + 1 + i,
    )
  }
}

function product(id: number): object {
  return {
    id,
    name: `Cordless drill with two batteries, model ${id}`,
    default_code: `P-${String(id).padStart(8, '0')}`,
    lst_price: 10 + (id % 10_000) / 100,
    qty_available: id % 77,
    active: true,
    categ_id: 1 + (id % 50),
    product_tmpl_id: id,
    create_date: old,
    write_date: old,
  }
}
