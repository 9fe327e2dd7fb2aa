import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { limits } from '../../../server/src/limits/limits.ts'
import { type Context, type Stoppable, shared } from '../check.ts'
import { Client, type HttpResponse, headersFor } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { Random } from '../random.ts'
import { type ServerProcess, Service } from '../service.ts'
import { type Marker, markersIn } from './markers.ts'
import { randomRows } from './rows.ts'
import { type PlainRecord, type Resource, type ResourceName, resourceNames, resources } from './schema.ts'

export interface ProofAccount {
  readonly name: string
  readonly key: string
  readonly rows: Record<ResourceName, readonly PlainRecord[]>
}

/** Requests in flight at the same time. */
export const concurrentRequests = 32

/**
 * Accounts with imported random rows, and two server processes: one with default settings, and one whose connections use
 * only bitmap index scans, so that both kinds of plans are compared with the evaluator.
 */
export class Fixture implements Stoppable {
  readonly service: Service
  readonly client = new Client(concurrentRequests)
  readonly accounts: readonly ProofAccount[]
  /** An account for creates; filters are not compared on it. */
  readonly spare: ProofAccount
  readonly servers: readonly ServerProcess[]
  /** The size of the database's log after the set-up: later statements are caused by requests. */
  readonly logStart: number
  /** Accepted lists and exports whose filter has a value with this marker. */
  readonly marked: Record<Marker, number> = { text: 0, number: 0, time: 0 }
  #largeAccounts = 0

  private constructor(
    service: Service,
    accounts: readonly ProofAccount[],
    spare: ProofAccount,
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
    // The log contains every statement as it was sent.
    const service = await Service.start({
      log_statement: 'all',
      log_parameter_max_length: '0',
      log_parameter_max_length_on_error: '0',
      log_line_prefix: 'at %a: ',
    })
    try {
      await prepareDatabase(service.postgres.url)
      const accounts = await createAccounts(service, context)
      const rows = { product: [], partner: [], company: [] }
      const spare = { name: 'spare', key: await service.account('spare'), rows }
      const indexed = new URL(service.postgres.url)
      indexed.username = 'index_only'
      // All concurrent requests may be for one account; none may be rejected.
      const settings = { QUARTERMASTER_ACCOUNT_READS_MAX: String(concurrentRequests) }
      const servers = [
        await service.serve(settings),
        await service.serve({ ...settings, DATABASE_URL: indexed.href }),
      ]
      const fixture = new Fixture(service, accounts, spare, servers, logSize(service))
      await fixture.#verifyRows()
      return fixture
    } catch (error) {
      await service.stop()
      throw error
    }
  }

  async send(
    account: ProofAccount,
    path: string,
    options: { method?: string; body?: string; server?: number; accept?: string } = {},
  ): Promise<HttpResponse> {
    const { method = 'GET', body, server = 0, accept } = options
    const port = this.servers[server]?.port ?? 0
    const headers = headersFor(account.name, account.key)
    if (body !== undefined) headers.push('Content-Type', 'application/x-www-form-urlencoded')
    if (accept !== undefined) headers.push('Accept', accept)
    const response = await this.client.sendUntilAccepted({
      port,
      method,
      path,
      headers,
      ...(body !== undefined && { body }),
    })
    if (response.status === 200) for (const kind of markersIn(`${path} ${body ?? ''}`)) this.marked[kind] += 1
    return response
  }

  /** Creates an account with `count` rows of one resource: another one each time, so that a check can be repeated. */
  async largeAccount(seed: number, resource: Resource, count: number) {
    const rows = randomRows(new Random(seed, 11), resource, count)
    const none = { product: [], partner: [], company: [] }
    const name = `large-${++this.#largeAccounts}`
    const account = { name, key: await this.service.account(name), rows: none }
    await importRows(this.service, name, resource, rows)
    await withClient(this.service.postgres.url, (client) => client.query('vacuum analyze'))
    return { account, rows }
  }

  create(account: ProofAccount, name: string, idempotencyKey: string | undefined): Promise<HttpResponse> {
    const headers = headersFor(account.name, account.key)
    headers.push('Content-Type', 'application/json')
    if (idempotencyKey !== undefined) headers.push('Idempotency-Key', idempotencyKey)
    const { path } = resources.partner
    const port = this.servers[0]?.port ?? 0
    return this.client.sendUntilAccepted({
      port,
      method: 'POST',
      path,
      headers,
      body: JSON.stringify({ name }),
    })
  }

  async stop(): Promise<void> {
    this.client.close()
    await this.service.stop()
  }

  /** Compares all rows with those of the evaluator, so that both sides have the same data. */
  async #verifyRows(): Promise<void> {
    for (const account of this.accounts) {
      for (const name of resourceNames) {
        const response = await this.send(account, `${resources[name].path}?limit=1000`)
        const difference = firstDifference(resources[name], account.rows[name], response)
        if (difference !== undefined) throw new Error(`${name} of ${account.name}: ${difference}`)
      }
    }
  }
}

export function firstDifference(
  resource: Resource,
  rows: readonly PlainRecord[],
  response: HttpResponse,
): string | undefined {
  if (response.status !== 200) return `${response.status} ${response.text.slice(0, 500)}`
  const { data }: { data: PlainRecord[] } = JSON.parse(withNumbersAsText(response.text))
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

/** Quotes numbers, because JSON.parse would round them to doubles. */
export function withNumbersAsText(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  )
}

/** One line of NDJSON, with exact numbers. */
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
    await client.query('create role index_only superuser login')
    for (const off of ['enable_seqscan', 'enable_indexscan', 'enable_indexonlyscan'])
      await client.query(`alter role index_only set ${off} = off`)
  })
}

/** Alternately larger and smaller than a small account, for which the statements differ. */
async function createAccounts(service: Service, context: Context): Promise<ProofAccount[]> {
  const count = context.size(10, 3)
  const accounts: ProofAccount[] = []
  const progress = context.progress('accounts', count)
  await inParallel(count, 2, async (index) => {
    const name = `proof-${index}`
    const key = await service.account(name)
    const rows: ProofAccount['rows'] = { product: [], partner: [], company: [] }
    const rowCount = index % 2 === 0 ? limits.smallAccountRecordsMax + 100 : 200
    for (const [at, resource] of Object.values(resources).entries()) {
      const generated = randomRows(new Random(context.seed, 1, index, at), resource, rowCount)
      await importRows(service, name, resource, generated)
      rows[resource.name] = generated
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

function logSize(service: Service): number {
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

/** Shared by all checks of a run. */
export const proofFixture = shared((context) => Fixture.start(context))
