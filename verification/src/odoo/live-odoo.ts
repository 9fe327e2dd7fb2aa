import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Random } from '../random.ts'

/** A real Odoo 19 in a chroot, which `verification/odoo/install` builds. It is started if it does not run, and keeps running. */

const scripts = fileURLToPath(new URL('../../odoo/', import.meta.url))
const folder = process.env['ODOO_RUN'] ?? '/var/tmp/quartermaster-odoo'

export function whyNoOdoo(): string | undefined {
  return existsSync(join(folder, 'root/usr/bin/odoo'))
    ? undefined
    : 'no Odoo here; verification/odoo/install builds one'
}

export type OdooRow = { readonly id: number } & Readonly<Record<string, unknown>>

interface Access {
  readonly url: string
  readonly database: string
  readonly api_key: string
  readonly writer_api_key: string
  /** Its database, as a superuser. */
  readonly pg: string
}

/** If the check ends with an error, no shell must outlive it. */
const shells = new Set<ChildProcess>()
process.once('exit', () => {
  for (const shell of shells) if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL')
})

export class LiveOdoo {
  readonly access: Access

  private constructor(access: Access) {
    this.access = access
  }

  /** With at least so many products: some thousands by the ORM, with stock and variants, and clones of one of them by SQL. */
  static async start(products: number): Promise<LiveOdoo> {
    const run = (script: string, ...args: readonly string[]) =>
      promisify(execFile)('bash', [join(scripts, script), ...args], {
        env: { ...process.env, WORKERS: '3', PRODUCTS: '2000', PARTNERS: '5000' },
        maxBuffer: 1 << 24,
      })
    await run('start')
    const odoo = new LiveOdoo(JSON.parse(readFileSync(join(folder, 'odoo.json'), 'utf8')))
    const count = Number(await odoo.read('product.product', 'search_count', { domain: [] }))
    if (count < 1_000) await run('seed')
    const wanted = Number(process.env['ODOO_PRODUCTS'] ?? products)
    if (count < wanted) await run('grow', String(wanted))
    return odoo
  }

  /** As the connector's user. */
  read(model: string, method: string, args: object): Promise<ReturnType<typeof JSON.parse>> {
    return this.#call(this.access.api_key, model, method, args)
  }

  /** As a user who works with Odoo. */
  write(model: string, method: string, args: object): Promise<ReturnType<typeof JSON.parse>> {
    return this.#call(this.access.writer_api_key, model, method, args)
  }

  /** All rows, for the truth at the end. */
  async all(model: string, fields: readonly string[]): Promise<readonly OdooRow[]> {
    const companies: number[] = await this.read('res.company', 'search', { domain: [], order: 'id' })
    const context = { active_test: false, lang: 'en_US', tz: 'UTC', allowed_company_ids: companies }
    const rows: OdooRow[] = []
    for (;;) {
      const domain = [['id', '>', rows.at(-1)?.id ?? 0]]
      const options = { domain, fields, order: 'id', limit: 1000, load: null, context }
      const page: OdooRow[] = await this.read(model, 'search_read', options)
      rows.push(...page)
      if (page.length < 1000) return rows
    }
  }

  /** Transactions that commit late, from an `odoo shell` of its own. Resolves with the number of their writes. */
  late(number: number, seconds: number, holds: readonly number[]): Promise<number> {
    const env = { ...process.env, LATE_SECONDS: String(seconds), LATE_HOLDS: JSON.stringify(holds) }
    const child = spawn('bash', [join(scripts, 'late'), String(number)], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    })
    shells.add(child)
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    return new Promise((resolve) =>
      child.once('close', () => {
        shells.delete(child)
        resolve(out.split('\n').filter((line) => line.startsWith('{')).length)
      }),
    )
  }

  /** CPU seconds of Odoo and its database so far. */
  cpuSeconds(): number {
    const roots = ['odoo.pid', 'pg/postmaster.pid.os'].map((file) =>
      readFileSync(join(folder, file), 'utf8').trim(),
    )
    let ticks = 0
    for (const pid of processes()) {
      const fields = statOf(pid)
      // Times of children that have ended are part of those of their parent.
      if (roots.includes(pid)) ticks += sum(fields.slice(11, 15))
      else if (roots.includes(fields[1] ?? '')) ticks += sum(fields.slice(11, 13))
    }
    return ticks / 100
  }

  /** SIGKILL for one of the processes that respond. Odoo starts another one. */
  killWorker(random: Random): void {
    const master = readFileSync(join(folder, 'odoo.pid'), 'utf8').trim()
    const workers = processes().filter((pid) => statOf(pid)[1] === master)
    if (workers.length > 0) process.kill(Number(random.pick(workers)), 'SIGKILL')
  }

  async #call(key: string, model: string, method: string, args: object): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await fetch(`${this.access.url}/json/2/${model}/${method}`, {
          method: 'POST',
          headers: {
            authorization: `bearer ${key}`,
            'content-type': 'application/json',
            'x-odoo-database': this.access.database,
          },
          body: JSON.stringify(args),
        })
        const body: ReturnType<typeof JSON.parse> = await response.json()
        if (response.ok) return body
        throw new Error(`${model}.${method}: ${response.status} ${String(body.message).slice(0, 200)}`)
      } catch (error) {
        // A worker may have ended, and while a company is renamed Odoo may refuse it for a moment. Only reads are repeated.
        const isRead = /^(?:search|read|fields_get)/.test(method)
        if (!isRead || attempt >= 5) throw error
        await sleep(1000 * attempt)
      }
    }
  }
}

function processes(): readonly string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
}

/** What follows the name of the program: state, parent, … */
function statOf(pid: string): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

function sum(numbers: readonly string[]): number {
  return numbers.reduce((total, one) => total + Number(one), 0)
}
