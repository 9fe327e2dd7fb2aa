import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '../../../verification/src/client.ts'
import { inParallel } from '../../../verification/src/parallel.ts'
import type { Requests } from '../wrk.ts'
import { createPartner, oneRecord, pageAndCount } from './bare.ts'
import { accountLines, type Fixture, smallRecords } from './fixture.ts'
import type { Script } from './pgbench.ts'
import { headersOf } from './same-work.ts'

const readers = 32
const writers = 16
/**
 * Orders of fields: enough that no request of a run is repeated. More of them would measure the preparation of their
 * statements on each connection. The baseline has one statement.
 */
export const forms = 8
export const productPath = '/api/v1/inventory/product'
export const partnerPath = '/api/v1/resources/partner'
const partnerName = 'Nordwind Logistics'
const pages = smallRecords / 10

/** Requests of one kind, sent to the service, to another build of it and to other servers. */
export interface Workload {
  readonly name: string
  readonly label: string
  /** The rate of the service divided by that of plain PostgreSQL. */
  readonly boundMin: number
  readonly clients: number
  readonly status: '200' | '201' | '304'
  /** Invalidates all caches before each interval. */
  readonly isCold?: boolean
  readonly requests: (fixture: Fixture, port: number) => Promise<Requests>
  readonly bare: (fixture: Fixture) => Script
}

export const workloads = [
  {
    name: 'warm_list',
    label: 'list, cached',
    boundMin: 1.6,
    clients: readers,
    status: '200',
    requests: async ({ files }) => ({ shape: 'list', path: productPath, accounts: files.small }),
    bare: (fixture) => pageAndCount(fixture, 1),
  },
  {
    name: 'not_modified',
    label: 'list, not modified',
    boundMin: 1.6,
    clients: readers,
    status: '304',
    requests: async (fixture, port) => ({
      shape: 'list',
      path: productPath,
      accounts: await accountsWithEtags(fixture, port),
    }),
    bare: (fixture) => pageAndCount(fixture, 1),
  },
  {
    name: 'cold_list',
    label: 'list, not cached',
    boundMin: 0.5,
    clients: readers,
    status: '200',
    isCold: true,
    requests: async ({ files: { small: accounts, orders } }) => ({
      shape: 'cold',
      path: productPath,
      accounts,
      orders,
      forms,
      pages,
    }),
    bare: (fixture) => pageAndCount(fixture, pages),
  },
  {
    name: 'one_record',
    label: 'one record, not cached',
    boundMin: 0.27,
    clients: readers,
    status: '200',
    isCold: true,
    requests: async ({ files: { small: accounts, orders } }) => ({
      shape: 'one',
      path: productPath,
      accounts,
      orders,
      forms,
      ids: smallRecords,
    }),
    bare: oneRecord,
  },
  {
    name: 'create',
    label: 'partners created',
    boundMin: 0.6,
    clients: writers,
    status: '201',
    requests: async ({ files }) => ({
      shape: 'create',
      path: partnerPath,
      accounts: files.small,
      body: JSON.stringify({ name: partnerName }),
    }),
    bare: (fixture) => createPartner(fixture, partnerName),
  },
] as const satisfies readonly Workload[]

export type WorkloadName = (typeof workloads)[number]['name']

/** Writes a file with the accounts and the current ETag of each one's list on this server. */
async function accountsWithEtags(fixture: Fixture, port: number): Promise<string> {
  const client = new Client()
  const known: (Fixture['small'][number] & { etag: string })[] = []
  await inParallel(fixture.small.length, readers, async (i) => {
    const account = fixture.small[i]
    if (account === undefined) return
    const response = await client.send({ port, path: productPath, headers: headersOf(account) })
    const { etag } = response.headers
    if (response.status !== 200 || typeof etag !== 'string')
      throw new Error(`status ${response.status}, ETag ${etag}`)
    known.push({ ...account, etag })
  })
  client.close()
  const file = join(fixture.folder, `known-${port}.txt`)
  writeFileSync(file, accountLines(known))
  return file
}
