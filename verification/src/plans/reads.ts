import { readFileSync } from 'node:fs'
import type pg from 'pg'
import { withClient } from '../../../server/src/postgres/client.ts'
import { insertKeys } from '../api-keys.ts'
import type { Check } from '../check.ts'
import { Client, headersFor } from '../client.ts'
import { Service } from '../service.ts'
import { fill, largeAccount } from './data.ts'

/** More than any of these requests needs, and far less than all records of the account. */
const rowsReadMax = 5_000
/** PostgreSQL considers a generic plan after the fifth execution, and the service prepares a statement that recurs. */
const repeats = 16
const rows = 10
const path = '/api/v1/inventory/product'

type Body = string | object | undefined

interface Request {
  readonly method?: string
  readonly path: string
  readonly type?: string
  /** One of the statuses with which it has done its work. */
  readonly status?: number
  readonly body?: Body
}

/** Requests for a few records each; `n` counts the repetitions, so that each names others. */
const requests: Readonly<Record<string, (n: number, last: number) => Request>> = {
  'one record': (n) => ({ path: `${path}/${n * 7}` }),
  'one record by key': (n) => ({ path: `${path}/default_code/${code(n * 7 + 1)}` }),
  'page 1': (n) => ({ path: `${path}?limit=${rows + n}` }),
  'page 200': (n) => ({ path: `${path}?limit=${rows}&page=${200 + n}` }),
  'page 200, sorted': (n) => ({ path: `${path}?limit=${rows}&page=${200 + n}&sort=-name` }),
  'filter on ids': (n) => ({ path: `${path}?filter=id[${ids(n).join()}]` }),
  'filter on a code': (n) => ({ path: `${path}?filter=default_code=${code(n * 7 + 1)}` }),
  'after an id': (n) => ({ path: `${path}?limit=${rows}&after_id=${n * 100}` }),
  'feed from now': () => ({ path: `${path}/changes?since=now` }),
  'feed from the start': () => ({ path: `${path}/changes?limit=${rows}` }),
  patch: (n) => ({ method: 'PATCH', path: `${path}/${n * 11}`, body: { qty_available: 7_000 + n } }),
  adjust: (n) => ({ method: 'POST', path: `${path}/${n * 11}/adjust`, body: { qty_available: 1 } }),
  'patch by key': (n) => ({
    method: 'PATCH',
    path: `${path}/default_code/${code(n * 7 + 1)}`,
    body: { list_price: 7_000 + n },
  }),
  create: (n) => ({ method: 'POST', path, status: 201, body: { name: `Created ${n}` } }),
  delete: (n, last) => ({ method: 'DELETE', path: `${path}/${last - n}`, status: 204 }),
  'batch: change': (n) => batch(ids(n).map((id) => ({ id, qty_available: 8_000 + n }))),
  'batch: change several fields': (n) =>
    batch(ids(n).map((id) => ({ id, name: `Changed ${n} ${id}`, active: n % 2 === 0 }))),
  'batch: change twice': (n) =>
    batch(
      ids(n).flatMap((id) => [
        { id, list_price: n },
        { id, list_price: n + 100 },
      ]),
    ),
  'batch: nothing differs': (n) => batch(ids(n).map((id) => ({ id, name: `Changed ${repeats} ${id}` }))),
  'batch: if it has this ETag': (n) =>
    batch(ids(n).map((id) => ({ id, qty_available: 1, $if_match: '"none"' }))),
  'batch: delete': (n, last) => batch(ids(n).map((_, i) => ({ $delete: last - 1_000 - n * rows - i }))),
  'batch by key: change': (n) =>
    batch(
      ids(n).map((id) => ({ default_code: code(id + 1), list_price: 9_000 + n })),
      '?key=default_code&mode=update',
    ),
  'batch by key: new': (n) =>
    batch(
      ids(n).map((id) => ({ default_code: `N-${n}-${id}`, name: 'New' })),
      '?key=default_code',
    ),
  'batch as JSON': (n) => ({
    method: 'POST',
    path: `${path}/batch?mode=update`,
    body: { rows: ids(n).map((id) => ({ id, qty_available: 9_500 + n })) },
  }),
}

/** As in the data set; every tenth product has none. */
function code(id: number): string {
  const known = id % 10 === 0 ? id + 1 : id
  return `C-${String((known * 7919) % 1_000_003).padStart(7, '0')}`
}

/** Scattered, and none of them a multiple of ten less one, which has no code after it. */
function ids(n: number): number[] {
  return Array.from({ length: rows }, (_, i) => 1 + ((n * 4_567 + i * 1_230) % 30_000))
}

function batch(lines: readonly object[], query = '?mode=update'): Request {
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  return { method: 'POST', path: `${path}/batch${query}`, type: 'application/x-ndjson', body }
}

/**
 * Requests for ten records of a large account among thousands of tiny ones, repeated until PostgreSQL may use generic plans: these expect
 * as many records of every account as an average one has. None may read the records of the whole account.
 */
export const readsBounded: Check = {
  name: 'reads_bounded',
  bound: `= all, ≤ ${rowsReadMax} rows read per statement`,
  async run(context) {
    const records = context.size(1_000_000, 60_000)
    const service = await Service.start({ shared_buffers: '512MB', max_wal_size: '4GB', autovacuum: 'off' })
    const client = new Client(1)
    try {
      const { url } = service.postgres
      const key = await withClient(url, async (owner) => {
        await fill(owner, 'varied', records, context.size(20_000, 4_000), 5)
        const [first = ''] = await insertKeys(owner, [largeAccount])
        await owner.query('analyze')
        return first
      })
      const builder = await service.serve()
      await service.command(['field', 'unique', 'product.default_code', '--account', 'account-1'])
      await service.command(['account', 'ids', 'account-1', 'product', 'service'])
      await builder.kill()
      const log = await withClient(url, explainStatements)
      const { port } = await service.serve()
      const send = async (
        name: string,
        { method = 'GET', status = 200, type, ...request }: Request,
        n: number,
      ) => {
        const { path: target, body } = request
        const text = typeof body === 'object' ? JSON.stringify(body) : body
        const headers = headersFor('account-1', key)
        if (body !== undefined) headers.push('Content-Type', type ?? 'application/json')
        if (name === 'adjust') headers.push('Idempotency-Key', `adjust-${n}`)
        const sent = await client.send({
          port,
          method,
          path: target,
          headers,
          ...(text !== undefined && { body: text }),
        })
        const isRejected = /"rejected":[1-9]/.test(sent.text) !== name.includes('ETag')
        if (sent.status !== status || (target.includes('/batch') && isRejected))
          throw new Error(`${name}: ${sent.status}, expected ${status}: ${sent.text.slice(0, 500)}`)
      }
      let reads = 0
      const faults: string[] = []
      for (const [name, requestOf] of Object.entries(requests)) {
        for (let n = 1; n <= repeats; n++) await send(name, requestOf(n, records), n)
        const found = log.next()
        reads += found.length
        const [most] = found.toSorted((a, b) => b.rows - a.rows)
        context.log(`${name}: ${most?.rows ?? 0} rows`)
        if (most !== undefined && most.rows > rowsReadMax)
          faults.push(`${name}: ${most.rows} rows read by ${most.query}`)
      }
      const count = Object.keys(requests).length
      return {
        value: `${count - faults.length} of ${count}`,
        samples: reads,
        ok: faults.length === 0,
        note: faults.join('\n'),
      }
    } finally {
      client.close()
      await service.stop()
    }
  },
}

/** From now on, new connections log the plans of their statements with the rows that each node has returned and discarded. */
async function explainStatements(client: pg.Client): Promise<PlanLog> {
  await client.query(`alter system set session_preload_libraries = 'auto_explain'`)
  for (const [name, setting] of Object.entries({
    log_min_duration: '0',
    log_analyze: 'on',
    log_timing: 'off',
    log_format: 'json',
  }))
    await client.query(`alter role all set auto_explain.${name} = '${setting}'`)
  await client.query('select pg_reload_conf()')
  const { rows: found } = await client.query<{ file: string }>(
    `select current_setting('data_directory') || '/../log' as file`,
  )
  return new PlanLog(found[0]?.file ?? '')
}

interface PlanNode {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly PlanNode[]
}

interface Read {
  readonly rows: number
  readonly query: string
}

/** The log of a PostgreSQL server. */
class PlanLog {
  readonly #file: string
  #position = 0

  constructor(file: string) {
    this.#file = file
  }

  /** The statements that have been logged since the last call. */
  next(): Read[] {
    const text = readFileSync(this.#file, 'utf8').slice(this.#position)
    this.#position += text.length
    return [...text.matchAll(/ms {2}plan:\n((?:\t.*\n)+)/g)].map(([, entry = '']) => {
      const { 'Query Text': query, Plan: plan }: { 'Query Text': string; Plan: PlanNode } = JSON.parse(entry)
      return { rows: ofRecords(plan), query }
    })
  }
}

function ofRecords(node: PlanNode): number {
  const own = /^(?:product|tombstone)/.test(node['Relation Name'] ?? '')
    ? node['Actual Rows'] +
      (node['Rows Removed by Filter'] ?? 0) +
      (node['Rows Removed by Index Recheck'] ?? 0)
    : 0
  return own * node['Actual Loops'] + (node.Plans ?? []).reduce((sum, child) => sum + ofRecords(child), 0)
}
