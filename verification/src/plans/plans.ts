import type pg from 'pg'
import { resources } from '../../../server/src/catalog/resources.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import { servingSettings } from '../../../server/src/postgres/settings.ts'
import { parseListRequest } from '../../../server/src/query/list-request.ts'
import { planList } from '../../../server/src/query/plan.ts'
import { listStatement } from '../../../server/src/query/sql/list-statement.ts'
import { recordsStatement } from '../../../server/src/query/sql/record-statement.ts'
import type { Statement } from '../../../server/src/sql.ts'
import { type Check, type Context, shared } from '../check.ts'
import { Service } from '../service.ts'
import { broad, cases, fullIndexScans } from './cases.ts'
import { type DataSet, fill, largeAccount } from './data.ts'
import { explain, explainGeneric } from './explain.ts'

const scope = { accountId: largeAccount }
const buffersMax = 50
/** Rows that a selective filter may read and discard, as a share of the account. */
const filteredOutMax = 0.01
const selective = 0.01
/** Rows that may be read for each row of a page. */
const rowsReadMax = 10

// An autovacuum during the check would change the buffers read; `fill` vacuums the data instead.
const settings = {
  shared_buffers: '1GB',
  max_wal_size: '8GB',
  maintenance_work_mem: '512MB',
  autovacuum: 'off',
}
const fixture = shared(() => Service.start(settings))

export const plansIndexed: Check = {
  name: 'plans_indexed',
  bound: '= all, no sequential scan',
  async run(context) {
    const records = context.size(1_000_000, 100_000)
    const accounts = context.size(1000, 100)
    const { postgres } = await fixture(context)
    const faults: string[] = []
    let shown = 0
    for (const set of ['skewed', 'varied'] as const) {
      context.log(`${set}: filling one account of ${records} products among ${accounts} accounts`)
      await withClient(postgres.url, (client) => fill(client, set, records, accounts))
      await withClient(asServer(postgres.url), async (client) => {
        for (const filter of filtersOf(set, records)) {
          const fault = await faultOf(client, filter, records)
          if (fault === undefined) shown++
          else faults.push(`${set} ${filter}: ${fault}`)
        }
      })
    }
    const all = cases.skewed.length + cases.varied.length
    return { value: `${shown} of ${all} by index`, samples: all, ok: shown === all, note: faults.join('\n') }
  },
}

export const pageBuffers: Check = {
  name: 'page_1_buffers',
  bound: `< ${buffersMax} buffers`,
  run: (context) =>
    buffersOf(context, listStatement(scope, planList(resources.product, parseListRequest('', 'url')), 1)),
}

export const oneBuffers: Check = {
  name: 'one_record_buffers',
  bound: `< ${buffersMax} buffers`,
  run: (context) => buffersOf(context, recordsStatement(resources.product, [{ ...scope, id: '4711' }])),
}

/**
 * The next page when reading all pages, with two fields and with all, with and without a filter that most records match:
 * the generic plan reads the rows in the order of ids and at most `rowsReadMax` rows for each row of the page.
 */
export const pagesInOrder: Check = {
  name: 'pages_in_order',
  bound: `= all, ≤ ${rowsReadMax} rows read per row`,
  async run(context) {
    const url = await filled(context)
    const { fields } = resources.product
    const chosen = [...fields.map(({ name }) => `id,${name}`), fields.map(({ name }) => name).join()]
    const queries = chosen.flatMap((names) =>
      broad.map((filter) => `fields=${names}&limit=100&page=41${filter}`),
    )
    const faults: string[] = []
    await withClient(asServer(url), async (client) => {
      for (const query of queries) {
        const plan = planList(resources.product, parseListRequest(query, 'url'))
        const cached = { total: context.size(500_000, 50_000), end: { rank: 4000, id: '8000' } }
        const statement = listStatement(scope, plan, 41, cached)
        const { returned, filteredOut } = await explainGeneric(client, statement, 'product')
        const [page] = (await client.query<{ count: string }>(statement.text, [...statement.values])).rows
        if (page?.count !== '100') faults.push(`${query}: ${page?.count} records, the case is wrong`)
        else if (returned + filteredOut > 100 * rowsReadMax)
          faults.push(`${query}: ${returned + filteredOut} rows read`)
      }
    })
    const shown = queries.length - faults.length
    const note = faults.slice(0, 20).join('\n')
    return { value: `${shown} of ${queries.length}`, samples: queries.length, ok: faults.length === 0, note }
  },
}

async function buffersOf(context: Context, statement: Statement) {
  const url = await filled(context)
  const { buffers } = await withClient(asServer(url), async (client) => {
    await explain(client, statement, 'product')
    return explain(client, statement, 'product')
  })
  return { value: `${buffers} buffers`, samples: buffers, ok: buffers > 0 && buffers < buffersMax }
}

function filtersOf(set: DataSet, records: number): string[] {
  const lastDay = new Date(Date.UTC(2020, 0, 1) + records * 180_000 - 24 * 3_600_000)
    .toISOString()
    .slice(0, 10)
  return cases[set].map((filter) =>
    filter
      .replace('{last}', String(records - 100))
      .replace('{third}', String(Math.floor(records / 3) - 100))
      .replace('{lastDay}', lastDay),
  )
}

async function faultOf(client: pg.Client, filter: string, records: number): Promise<string | undefined> {
  const request = parseListRequest(`filter=${encodeURIComponent(filter)}`, 'url')
  const statement = listStatement(scope, planList(resources.product, request), 1)
  const { rows } = await client.query<{ total: string }>(statement.text, [...statement.values])
  const matches = Number(rows[0]?.total)
  if (!(matches <= records * selective)) return `${matches} matches: not selective, the case is wrong`
  const { sequential, byIndex, filteredOut } = await explain(client, statement, 'product')
  if (sequential > 0 || byIndex === 0) return `${sequential} sequential scans, ${byIndex} by index`
  if (filteredOut > records * filteredOutMax && !fullIndexScans.has(filter))
    return `${filteredOut} rows read and discarded`
  return undefined
}

/** Fills the database, unless `plans_indexed` has done so. */
async function filled(context: Context): Promise<string> {
  const { postgres } = await fixture(context)
  await withClient(postgres.url, async (client) => {
    const { rowCount } = await client.query('select 1 from product limit 1')
    if (rowCount === 0)
      await fill(client, 'varied', context.size(1_000_000, 100_000), context.size(1000, 100))
  })
  return postgres.url
}

/** The database URL with the connection settings of the server. */
function asServer(url: string): string {
  return `${url}?options=${encodeURIComponent(servingSettings('quartermaster_server'))}`
}
