import { setTimeout as sleep } from 'node:timers/promises'
import type { LiveOdoo, OdooRow } from './live-odoo.ts'
import { comparedResources, odooFields, type Resource, valuesOfRow } from './odoo-pair.ts'

/** The control: the usual rule, `write_date > last`, page by offset. It must lose something, or the writer writes nothing that matters. */
export class NaiveCopy {
  readonly copies: Record<Resource, Map<number, Readonly<Record<string, string | null>>>> = {
    product: new Map(),
    partner: new Map(),
    company: new Map(),
  }
  readonly #odoo: LiveOdoo
  readonly #last: Record<Resource, string> = {
    product: '2000-01-01 00:00:00',
    partner: '2000-01-01 00:00:00',
    company: '2000-01-01 00:00:00',
  }

  constructor(odoo: LiveOdoo) {
    this.#odoo = odoo
  }

  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.poll()
      await sleep(5_000, undefined, { signal }).catch(() => undefined)
    }
  }

  async poll(): Promise<void> {
    const companies: number[] = await this.#odoo.read('res.company', 'search', { domain: [], order: 'id' })
    for (const resource of comparedResources) {
      const { model, fields } = odooFields(resource)
      let newest = this.#last[resource]
      for (let offset = 0; ; offset += 100) {
        const rows: OdooRow[] = await this.#odoo.read(model, 'search_read', {
          domain: [['write_date', '>', this.#last[resource]]],
          fields: [...fields, 'write_date'],
          order: 'write_date',
          limit: 100,
          offset,
          load: null,
          context: { active_test: false, lang: 'en_US', tz: 'UTC', allowed_company_ids: companies },
        })
        for (const row of rows) {
          this.copies[resource].set(row.id, valuesOfRow(resource, row))
          const written = String(row['write_date'])
          if (written > newest) newest = written
        }
        if (rows.length < 100) break
      }
      this.#last[resource] = newest
    }
  }
}
