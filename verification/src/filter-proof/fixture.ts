import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { limits } from '../../../server/src/limits.ts'
import { type Context, type Stoppable, shared } from '../check.ts'
import { type Answer, Client } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { Random } from '../random.ts'
import { type ServerProcess, Service } from '../service.ts'
import { randomRows } from './rows.ts'
import { type PlainRecord, type Resource, type ResourceName, resourceNames, resources } from './schema.ts'

export interface StandAccount {
  readonly name: string
  readonly key: string
  readonly rows: Record<ResourceName, readonly PlainRecord[]>
}

/** Requests on their way at the same time. */
export const askedAtOnce = 32

/**
 * Accounts with random rows, imported as an operator would, and two servers on them: one as it is, one whose
 * database plans with bitmap scans of indexes only, so that both ways to an answer are held against the evaluator.
 */
export class Fixture implements Stoppable {
  readonly service: Service
  readonly client = new Client(askedAtOnce)
  readonly accounts: readonly StandAccount[]
  /** Its partners change; no filter is held against it. */
  readonly spare: StandAccount
  readonly servers: readonly ServerProcess[]
  /** Where the database's log stood when only requests were left to cause statements. */
  readonly logStart: number

  private constructor(
    service: Service,
    accounts: readonly StandAccount[],
    spare: StandAccount,
    servers: readonly ServerProcess[],
    logStart: number,
  ) {
    this.service = service
    this.accounts = accounts
    this.spare = spare
    this.servers = servers
    this.logStart = logStart
  }

  static async start(context: Context): Promise<Fixture> {
    context.log('starting a database, importing random rows')
    // Every statement goes to the log as it was sent: pg_stat_statements alone would hide a literal behind a `$n`.
    const service = await Service.start({
      shared_preload_libraries: 'pg_stat_statements',
      'pg_stat_statements.max': '20000',
      'pg_stat_statements.track_utility': 'on',
      log_statement: 'all',
      log_parameter_max_length: '0',
      log_parameter_max_length_on_error: '0',
      log_line_prefix: 'at %a: ',
    })
    try {
      await prepareDatabase(service.postgres.url)
      const accounts = await makeAccounts(service, context)
      const rows = { product: [], partner: [], company: [] }
      const spare = { name: 'spare', key: await service.account('spare'), rows }
      const indexed = new URL(service.postgres.url)
      indexed.username = 'index_only'
      // All may ask one account at once: none is told to come back later.
      const turns = { ACCOUNT_READS_MAX: String(askedAtOnce) }
      const servers = [
        await service.serve(turns),
        await service.serve({ ...turns, DATABASE_URL: indexed.href }),
      ]
      const fixture = new Fixture(service, accounts, spare, servers, await forgetStatements(service))
      await fixture.#readBack()
      return fixture
    } catch (error) {
      await service.stop()
      throw error
    }
  }

  ask(
    account: StandAccount,
    path: string,
    options: { method?: string; body?: string; server?: number; accept?: string } = {},
  ) {
    const { method = 'GET', body, server = 0, accept } = options
    const port = this.servers[server]?.port ?? 0
    const headers = ['Host', `${account.name}.localhost`, 'Authorization', `Bearer ${account.key}`]
    if (body !== undefined) headers.push('Content-Type', 'application/x-www-form-urlencoded')
    if (accept !== undefined) headers.push('Accept', accept)
    return this.client.ask({ port, method, path, headers, ...(body !== undefined && { body }) })
  }

  /** An account of many rows of one resource. */
  async largeAccount(seed: number, resource: Resource, count: number) {
    const rows = randomRows(new Random(seed, 11), resource, count)
    const none = { product: [], partner: [], company: [] }
    const account = { name: 'large', key: await this.service.account('large'), rows: none }
    await importRows(this.service, 'large', resource, rows)
    await withClient(this.service.postgres.url, (client) => client.query('vacuum analyze'))
    return { account, rows }
  }

  create(account: StandAccount, name: string, idempotencyKey: string | undefined): Promise<Answer> {
    const headers = ['Host', `${account.name}.localhost`, 'Authorization', `Bearer ${account.key}`]
    headers.push('Content-Type', 'application/json')
    if (idempotencyKey !== undefined) headers.push('Idempotency-Key', idempotencyKey)
    const { path } = resources.partner
    const port = this.servers[0]?.port ?? 0
    return this.client.ask({ port, method: 'POST', path, headers, body: JSON.stringify({ name }) })
  }

  async stop(): Promise<void> {
    this.client.close()
    await this.service.stop()
  }

  /** The rows came in unchanged: otherwise the proof would be about other rows than the evaluator's. */
  async #readBack(): Promise<void> {
    for (const account of this.accounts) {
      for (const name of resourceNames) {
        const answer = await this.ask(account, `${resources[name].path}?limit=1000`)
        const difference = firstDifference(resources[name], account.rows[name], answer)
        if (difference !== undefined) throw new Error(`${name} of ${account.name}: ${difference}`)
      }
    }
  }
}

export function firstDifference(
  resource: Resource,
  rows: readonly PlainRecord[],
  answer: Answer,
): string | undefined {
  if (answer.status !== 200) return `${answer.status} ${answer.text.slice(0, 500)}`
  const { data }: { data: PlainRecord[] } = JSON.parse(withNumbersAsText(answer.text))
  if (data.length !== rows.length) return `${rows.length} rows imported, ${data.length} found`
  const names = resource.fields.map((field) => field.name).join()
  for (const [index, row] of rows.entries()) {
    const found = data[index] ?? {}
    if (Object.keys(found).join() !== names) return `fields ${Object.keys(found).join()} instead of ${names}`
    const field = resource.fields.find(({ name }) => found[name] !== row[name])?.name
    if (field === undefined) continue
    return `id ${row['id']}: ${field} ${JSON.stringify(row[field])} became ${JSON.stringify(found[field])}`
  }
  return undefined
}

/** Numbers as their own digits: JSON.parse would round them to doubles. */
export function withNumbersAsText(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  )
}

/** One NDJSON line; numbers by their own digits. */
export function jsonLine(resource: Resource, row: PlainRecord): string {
  const members = resource.fields.map(({ name, type }) => {
    const value = row[name]
    const isNumber = (type === 'integer' || type === 'decimal') && value !== null
    return `${JSON.stringify(name)}:${isNumber ? value : JSON.stringify(value)}`
  })
  return `{${members.join(',')}}`
}

async function prepareDatabase(url: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('create extension pg_stat_statements')
    await client.query('create role index_only superuser login')
    for (const off of ['enable_seqscan', 'enable_indexscan', 'enable_indexonlyscan'])
      await client.query(`alter role index_only set ${off} = off`)
  })
}

/** In turn larger and smaller than what is little to read: the statements for the two are different. */
async function makeAccounts(service: Service, context: Context): Promise<StandAccount[]> {
  const count = context.size(10, 3)
  const accounts: StandAccount[] = []
  const progress = context.progress('accounts', count)
  await inParallel(count, 2, async (index) => {
    const name = `proof-${index}`
    const key = await service.account(name)
    const rows: StandAccount['rows'] = { product: [], partner: [], company: [] }
    const rowCount = index % 2 === 0 ? limits.smallAccountRecordsMax + 100 : 200
    for (const [at, resource] of Object.values(resources).entries()) {
      const made = randomRows(new Random(context.seed, 1, index, at), resource, rowCount)
      await importRows(service, name, resource, made)
      rows[resource.name] = made
    }
    accounts[index] = { name, key, rows }
    progress.step()
  })
  progress.end()
  await withClient(service.postgres.url, (client) => client.query('analyze'))
  return accounts
}

async function importRows(
  service: Service,
  account: string,
  resource: Resource,
  rows: readonly PlainRecord[],
): Promise<void> {
  const file = join(service.folder, `${account}-${resource.name}.ndjson`)
  writeFileSync(file, `${rows.map((row) => jsonLine(resource, row)).join('\n')}\n`)
  await service.command(['import', resource.name, file, '--account', account])
}

/** From here on only requests cause statements. */
async function forgetStatements(service: Service): Promise<number> {
  await withClient(service.postgres.url, (client) => client.query('select pg_stat_statements_reset()'))
  return statSync(join(service.postgres.folder, 'log')).size
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'verification' })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** One for all checks of a run. */
export const proofFixture = shared((context) => Fixture.start(context))
