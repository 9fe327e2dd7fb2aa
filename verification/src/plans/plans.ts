import type pg from 'pg'
import { resources } from '../../../server/src/catalog/resources.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import { servingSettings } from '../../../server/src/postgres/connections.ts'
import { parseListRequest } from '../../../server/src/query/list-request.ts'
import { planList } from '../../../server/src/query/plan.ts'
import { listStatement } from '../../../server/src/query/sql/list-statement.ts'
import { recordStatement } from '../../../server/src/query/sql/record-statement.ts'
import type { Statement } from '../../../server/src/sql.ts'
import { type Check, type Context, shared } from '../check.ts'
import { Service } from '../service.ts'
import { broad, cases, wholeIndex } from './cases.ts'
import { type DataSet, fill, largeAccount } from './data.ts'
import { explain, explainGeneric } from './explain.ts'

const scope = { accountId: largeAccount }
const buffersMax = 50
/** Rows read in vain, as a part of the account: what a selective filter may cost beyond its own matches. */
const thrownAwayMax = 0.01
const selective = 0.01
/** Rows read for each of a walk's page. */
const walkedMax = 10

// A vacuum in the middle would change what is measured; the data are vacuumed once they are there.
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
    return { value: `${shown} of ${all} by index`, ok: shown === all, note: faults.join('\n') }
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
  run: (context) =>
    buffersOf(context, recordStatement(scope, resources.product, resources.product.fields, '4711')),
}

/**
 * The next page of a walk, of a few fields and of all, with a filter that most records match and without: by the plan
 * that holds for all accounts, PostgreSQL reads little more than the page.
 */
export const walksInOrder: Check = {
  name: 'walks_in_order',
  bound: `= all, ≤ ${walkedMax} rows read for each`,
  async run(context) {
    const url = await filled(context)
    const { fields } = resources.product
    const chosen = [...fields.map(({ name }) => `id,${name}`), fields.map(({ name }) => name).join()]
    const queries = chosen.flatMap((some) =>
      broad.map((filter) => `fields=${some}&limit=100&page=41${filter}`),
    )
    const faults: string[] = []
    await withClient(asServer(url), async (client) => {
      for (const query of queries) {
        const plan = planList(resources.product, parseListRequest(query, 'url'))
        const known = { total: context.size(500_000, 50_000), end: { page: 40, id: '8000' } }
        const statement = listStatement(scope, plan, 41, known)
        const { used, thrownAway } = await explainGeneric(client, statement, 'product')
        const [page] = (await client.query<{ count: string }>(statement.text, [...statement.values])).rows
        if (page?.count !== '100') faults.push(`${query}: ${page?.count} records, the case is wrong`)
        else if (used + thrownAway > 100 * walkedMax) faults.push(`${query}: ${used + thrownAway} rows read`)
      }
    })
    const shown = queries.length - faults.length
    const note = faults.slice(0, 20).join('\n')
    return { value: `${shown} of ${queries.length}`, ok: faults.length === 0, note }
  },
}

async function buffersOf(context: Context, statement: Statement) {
  const url = await filled(context)
  const { buffers } = await withClient(asServer(url), async (client) => {
    await explain(client, statement, 'product')
    return explain(client, statement, 'product')
  })
  return { value: `${buffers} buffers`, ok: buffers > 0 && buffers < buffersMax }
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
  const { sequential, byIndex, thrownAway } = await explain(client, statement, 'product')
  if (sequential > 0 || byIndex === 0) return `${sequential} sequential scans, ${byIndex} by index`
  if (thrownAway > records * thrownAwayMax && !wholeIndex.has(filter))
    return `${thrownAway} rows read in vain`
  return undefined
}

/** The data of `plans_indexed`, where it ran before. */
async function filled(context: Context): Promise<string> {
  const { postgres } = await fixture(context)
  await withClient(postgres.url, async (client) => {
    const { rowCount } = await client.query('select 1 from product limit 1')
    if (rowCount === 0)
      await fill(client, 'varied', context.size(1_000_000, 100_000), context.size(1000, 100))
  })
  return postgres.url
}

/** A connection with the settings of those that serve. */
function asServer(url: string): string {
  return `${url}?options=${encodeURIComponent(servingSettings('quartermaster_server'))}`
}
