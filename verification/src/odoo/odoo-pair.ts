import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Quartermaster } from '../../../client/src/index.ts'
import { type Records, recordsOf } from '../../../connectors/sync/src/records.ts'
import type { Context } from '../check.ts'
import { type ServerProcess, Service } from '../service.ts'
import { LiveOdoo, type OdooRow } from './live-odoo.ts'

export const connectorProgram = fileURLToPath(
  new URL('../../../connectors/odoo/bin/quartermaster-odoo.js', import.meta.url),
)
const account = 'connected'
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

const fields = {
  product: { x_odoo_id: 'integer' },
  partner: { x_odoo_id: 'integer' },
  company: { x_odoo_id: 'integer' },
} as const

/** Shorter than in production, in the same proportions: a check need not wait for 15 minutes. */
export const polling = { hot: 5, overlap: 10, late: 15, window: 150, sweep: 45, roll: 10 }

/** A real Odoo, the service, and the connector between them, as processes. */
export class OdooPair {
  readonly odoo: LiveOdoo
  readonly qm: Quartermaster<'number', typeof fields>
  readonly key: string
  readonly #service: Service
  readonly #server: ServerProcess
  readonly #baseUrl: string
  #child: ChildProcess | undefined
  #text = ''
  #startedAt = 0

  private constructor(odoo: LiveOdoo, service: Service, key: string, server: ServerProcess) {
    this.odoo = odoo
    this.key = key
    this.#service = service
    this.#server = server
    this.#baseUrl = `http://127.0.0.1:${server.port}`
    this.qm = new Quartermaster({ baseUrl: this.#baseUrl, apiKey: key, fields })
    this.configure(odoo.access.url)
  }

  static async start(context: Context): Promise<OdooPair> {
    const odoo = await LiveOdoo.start(context.size(20_000, 2_000))
    const service = await Service.start()
    try {
      const key = await service.account(account)
      const server = await service.serve({ QUARTERMASTER_DEFAULT_ACCOUNT: account })
      return new OdooPair(odoo, service, key, server)
    } catch (error) {
      await service.stop()
      throw error
    }
  }

  /** With fields whose names are known only at run time. */
  records(resource: Resource): Records {
    return recordsOf(this.qm, resource)
  }

  get statePath(): string {
    return join(this.#service.folder, 'odoo.state.json')
  }

  /** What the connector has logged since the last start. */
  get log(): string {
    return this.#text
  }

  configure(url: string, more: object = {}): void {
    const config = {
      odoo: { url, database: this.odoo.access.database },
      quartermaster: { url: this.#baseUrl },
      polling,
      ...more,
    }
    writeFileSync(join(this.#service.folder, 'odoo.json'), JSON.stringify(config))
  }

  /** Starts `quartermaster-odoo run`. */
  run(...args: readonly string[]): ChildProcess {
    const config = ['--config', join(this.#service.folder, 'odoo.json'), '--state', this.statePath]
    const child = spawn(connectorProgram, ['run', ...config, ...args], {
      env: { ...process.env, ODOO_KEY: this.odoo.access.api_key, QUARTERMASTER_KEY: this.key },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#text = ''
    this.#startedAt = Date.now()
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#text += text))
    running.add(child)
    child.once('exit', () => running.delete(child))
    this.#child = child
    return child
  }

  /** Runs it until it ends by itself. */
  async once(): Promise<void> {
    const code = await this.onceCode()
    if (code !== 0) throw new Error(`quartermaster-odoo exited with ${code}:\n${this.#text}`)
  }

  async onceCode(): Promise<number | null> {
    const child = this.run('--once')
    return await new Promise((resolve) => child.once('close', resolve))
  }

  /** Throws if the connector has ended by itself. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    if (child.exitCode !== null)
      throw new Error(`quartermaster-odoo exited with ${child.exitCode}:\n${this.#text}`)
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.kill(signal)
    await ended
    this.#child = undefined
  }

  /** Until the connector that was started last has done a round. */
  async untilRunning(): Promise<void> {
    for (const end = Date.now() + 300_000; Date.now() < end; await sleep(100)) {
      try {
        const { status } = JSON.parse(readFileSync(this.statePath, 'utf8'))
        if (status.phase === 'running' && Date.parse(status.startedAt) > this.#startedAt) return
      } catch {
        // It has not written its state yet.
      }
    }
    throw new Error(`quartermaster-odoo does not run:\n${this.#text}`)
  }

  /** SIGKILL for the service, which is then started again. */
  async killService(): Promise<void> {
    await this.#server.kill()
    await this.#server.start()
  }

  get state(): string {
    return readFileSync(this.statePath, 'utf8')
  }

  set state(text: string) {
    writeFileSync(this.statePath, text)
  }

  loseState(): void {
    rmSync(this.statePath, { force: true })
  }

  async stop(): Promise<void> {
    for (const child of running) child.kill('SIGKILL')
    await this.#service.stop()
  }
}

/** The fields of the truth, by the fields here. Shares no code with the connector. */
const compared = {
  product: {
    model: 'product.product',
    fields: {
      name: 'name',
      default_code: 'default_code',
      list_price: 'lst_price',
      qty_available: 'qty_available',
      active: 'active',
      categ_id: 'categ_id',
      product_tmpl_id: 'product_tmpl_id',
    },
  },
  partner: {
    model: 'res.partner',
    fields: { name: 'name', is_company: 'is_company', email: 'email', phone: 'phone', active: 'active' },
  },
  company: { model: 'res.company', fields: { name: 'name' } },
} as const

export type Resource = keyof typeof compared
export const comparedResources: readonly Resource[] = ['product', 'partner', 'company']

export interface Difference {
  readonly records: number
  readonly missing: readonly number[]
  readonly ghosts: readonly number[]
  readonly stale: readonly string[]
}

/** A copy as the values of its fields by Odoo's ids. */
export type Values = ReadonlyMap<number, Readonly<Record<string, string | null>>>

export async function valuesOfOdoo(odoo: LiveOdoo, resource: Resource): Promise<Values> {
  const { model, fields: names } = compared[resource]
  const rows = await odoo.all(model, Object.values(names))
  return new Map(rows.map((row) => [row.id, valuesOfRow(resource, row)]))
}

export function odooFields(resource: Resource): {
  readonly model: string
  readonly fields: readonly string[]
} {
  const { model, fields: names } = compared[resource]
  return { model, fields: Object.values(names) }
}

export function valuesOfRow(resource: Resource, row: OdooRow): Readonly<Record<string, string | null>> {
  const entries = Object.entries(compared[resource].fields)
  return Object.fromEntries(entries.map(([here, there]) => [here, textOf(row[there])]))
}

export async function valuesHere(pair: OdooPair, resource: Resource): Promise<Values> {
  const found = new Map<number, Readonly<Record<string, string | null>>>()
  const names = Object.keys(compared[resource].fields)
  const options = { fields: ['id', 'x_odoo_id', ...names], filter: 'x_odoo_id!=null' }
  for await (const record of pair.records(resource).all(options)) {
    const values = Object.fromEntries(names.map((name) => [name, textOf(record[name])]))
    found.set(Number(record['x_odoo_id']), values)
  }
  return found
}

export function differenceOf(truth: Values, copy: Values): Difference {
  const stale: string[] = []
  for (const [id, values] of truth) {
    const found = copy.get(id)
    if (found === undefined) continue
    const wrong = Object.keys(values).filter((name) => values[name] !== found[name])
    if (wrong.length > 0)
      stale.push(`${id}: ${wrong.map((name) => `${name} ${found[name]} not ${values[name]}`).join()}`)
  }
  return {
    records: truth.size,
    missing: [...truth.keys()].filter((id) => !copy.has(id)),
    ghosts: [...copy.keys()].filter((id) => !truth.has(id)),
    stale,
  }
}

/** One text for each value. In Odoo, the empty text is false, and a boolean that is false stays false. */
function textOf(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null
  if (typeof value === 'number') return String(Math.round(value * 1e6) / 1e6)
  if (typeof value === 'boolean') return value ? 'true' : null
  return JSON.stringify(value)
}
