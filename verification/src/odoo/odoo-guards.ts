import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Check } from '../check.ts'
import { pairOf } from './odoo-copy.ts'
import { comparedResources, type OdooPair, valuesHere } from './odoo-pair.ts'

interface Case {
  readonly what: string
  /** What happens to the copy of the database. Plain SQL: the effect counts, not the way. */
  readonly sql: string
  /** One of these. */
  readonly reasons: readonly string[]
}

const withoutTriggers = 'SET LOCAL session_replication_role = replica;'
const cases: readonly Case[] = [
  { what: 'restored backup', sql: '', reasons: ['restored'] },
  {
    what: 'other database',
    sql: `UPDATE res_users SET create_date = create_date - interval '1 day'`,
    reasons: ['database_changed'],
  },
  {
    what: 'lost company',
    sql: `DELETE FROM res_company_users_rel WHERE user_id = (SELECT id FROM res_users WHERE login = 'bot')
      AND cid = (SELECT max(cid) FROM res_company_users_rel)`,
    reasons: ['companies_shrank'],
  },
  {
    what: 'lost right',
    sql: `UPDATE ir_model_access SET perm_read = false WHERE model_id = (SELECT id FROM ir_model WHERE model = 'res.partner')`,
    reasons: ['rights_shrank'],
  },
  {
    what: 'emptied table',
    sql: `BEGIN; ${withoutTriggers} DELETE FROM product_product; COMMIT`,
    reasons: ['restored', 'too_many_deletes'],
  },
  {
    what: 'half of a table',
    sql: `BEGIN; ${withoutTriggers} DELETE FROM product_product WHERE id % 2 = 0; COMMIT`,
    reasons: ['too_many_deletes'],
  },
]

/**
 * The database behind the URL is replaced by a copy to which something has happened. The connector stops with the reason, before anything
 * here is deleted, with its state and without; then it goes on with the first database.
 */
export const odooGuards: Check = {
  name: 'odoo_guards',
  bound: 'stops, with 0 records deleted',
  needs: ['odoo'],
  async run(context) {
    const pair = await pairOf(context)
    const database = new Databases(pair.odoo.access.pg, pair.odoo.access.database)
    const faults: string[] = []
    const progress = context.progress('databases', cases.length)
    try {
      await pair.once()
      await database.copy('backup')
      // What the backup does not have.
      await changed(pair)
      await pair.once()
      const before = await keysOf(pair)
      for (const [at, { what, sql, reasons }] of cases.entries()) {
        // Each copy has its own name: Odoo's workers remember the rights of a database by its name.
        const name = at === 0 ? 'backup' : `guard_${at}`
        if (at > 0) await database.copy(name, sql)
        pair.configure(pair.odoo.access.url, { odoo: { url: pair.odoo.access.url, database: name } })
        const state = pair.state
        const code = await pair.onceCode()
        const reason = /stopped \((\w+)\)/.exec(pair.log)?.[1] ?? `none: ${pair.log.slice(-300)}`
        if (code !== 3 || !reasons.includes(reason))
          faults.push(`${what}: exit code ${code}, reason ${reason}`)
        const after = await keysOf(pair)
        const gone = [...before].filter((key) => !after.has(key))
        if (gone.length > 0) faults.push(`${what}: ${gone.length} of ${before.size} records are gone`)
        context.log(`${what}: ${reason}`)
        pair.state = state
        await database.drop(name)
        progress.step()
      }
      pair.configure(pair.odoo.access.url)
      await pair.once()
      const after = await keysOf(pair)
      if (after.size !== before.size)
        faults.push(`${after.size} records in place of ${before.size} at the end`)
      progress.end()
      return {
        value: `${cases.length - faults.length} of ${cases.length}`,
        ok: faults.length === 0,
        samples: before.size,
        note: faults.join('\n'),
      }
    } finally {
      pair.configure(pair.odoo.access.url)
      for (const [at] of cases.entries()) await database.drop(at === 0 ? 'backup' : `guard_${at}`)
      await database.end()
    }
  },
}

async function changed({ odoo }: OdooPair): Promise<void> {
  const partners: number[] = await odoo.write('res.partner', 'search', {
    domain: [['name', 'like', 'Partner ']],
    limit: 20,
    order: 'id',
  })
  for (const id of partners)
    await odoo.write('res.partner', 'write', { ids: [id], vals: { phone: `${Date.now()} ${id}` } })
  await sleep(2_000)
}

async function keysOf(pair: OdooPair): Promise<ReadonlySet<string>> {
  const keys = new Set<string>()
  for (const resource of comparedResources)
    for (const id of (await valuesHere(pair, resource)).keys()) keys.add(`${resource} ${id}`)
  return keys
}

/** Copies of Odoo's database in the same server, which Odoo serves by their names. */
class Databases {
  readonly #url: string
  readonly #from: string
  readonly #admin: pg.Client
  #isOpen: Promise<unknown> | undefined

  constructor(url: string, from: string) {
    this.#url = url
    this.#from = from
    this.#admin = new pg.Client({ connectionString: this.#of('postgres') })
  }

  async copy(name: string, sql = ''): Promise<void> {
    await this.drop(name)
    for (let attempt = 1; ; attempt++) {
      // A database is copied only while nobody uses it. Odoo connects again with its next call.
      await this.#admin.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()',
        [this.#from],
      )
      try {
        await this.#admin.query(`CREATE DATABASE ${name} TEMPLATE ${this.#from}`)
        break
      } catch (error) {
        if (attempt >= 20) throw error
        await sleep(200)
      }
    }
    if (sql === '') return
    const client = new pg.Client({ connectionString: this.#of(name) })
    await client.connect()
    try {
      await client.query(sql)
    } finally {
      await client.end()
    }
  }

  async drop(name: string): Promise<void> {
    this.#isOpen ??= this.#admin.connect()
    await this.#isOpen
    await this.#admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  }

  async end(): Promise<void> {
    await this.#admin.end()
  }

  #of(name: string): string {
    const url = new URL(this.#url)
    url.pathname = `/${name}`
    return url.href
  }
}
