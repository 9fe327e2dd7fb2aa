import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Context } from '../../../verification/src/check.ts'
import { Client } from '../../../verification/src/client.ts'
import { inParallel } from '../../../verification/src/parallel.ts'
import type { Benchmark } from '../benchmark.ts'
import { ratesAtLeast } from '../side-by-side.ts'
import { type Requests, Wrk } from '../wrk.ts'
import { createPartner, oneRecord, pageAndCount } from './bare.ts'
import { accountLines, type Fixture, sharedFixture, smallRecords } from './fixture.ts'
import { invalidateCaches } from './invalidate-caches.ts'
import { pgbenchRate, type Script } from './pgbench.ts'
import { headersOf, verifySameWork } from './same-work.ts'

const readers = 32
const writers = 16
/**
 * Orders of fields: enough that no request of a run is repeated. More of them would measure the preparation of their
 * statements on each connection. The baseline has one statement.
 */
export const forms = 8
const productPath = '/api/v1/inventory/product'
const partnerPath = '/api/v1/resources/partner'
const partnerName = 'Nordwind Logistics'

export const mainFixture = sharedFixture('main', (context) => ({
  records: context.size(1_000_000, 100_000),
  accounts: context.size(10_000, 1_000),
}))

const verified = new WeakSet<Fixture>()

/** The fixture, after verifying that both sides do the same work on it. */
export async function verifiedFixture(context: Context): Promise<Fixture> {
  const fixture = await mainFixture(context)
  if (!verified.has(fixture)) await verifySameWork(fixture, context.seed)
  verified.add(fixture)
  return fixture
}

export const warmList: Benchmark = {
  name: 'warm_list',
  bound: '≥ 1.5',
  async run(context) {
    const fixture = await verifiedFixture(context)
    const requests: Requests = { shape: 'list', path: productPath, accounts: fixture.files.small }
    const wrk = new Wrk(fixture.server.port, requests, readers)
    await wrk.verify('200', fixture.small.length)
    return ratesAtLeast(context, 'list, cached', 1.5, {
      service: (seconds) => wrk.rate(seconds),
      other: bareRate(fixture, pageAndCount(fixture, 1), readers),
    })
  },
}

export const notModified: Benchmark = {
  name: 'not_modified',
  bound: '≥ 1.8',
  async run(context) {
    const fixture = await verifiedFixture(context)
    const accounts = await accountsWithEtags(fixture)
    const wrk = new Wrk(fixture.server.port, { shape: 'list', path: productPath, accounts }, readers)
    await wrk.verify('304')
    return ratesAtLeast(context, 'list, not modified', 1.8, {
      service: (seconds) => wrk.rate(seconds),
      other: bareRate(fixture, pageAndCount(fixture, 1), readers),
    })
  },
}

export const coldList: Benchmark = {
  name: 'cold_list',
  bound: '≥ 0.6',
  async run(context) {
    const fixture = await verifiedFixture(context)
    const pages = smallRecords / 10
    const { small: accounts, orders } = fixture.files
    const requests: Requests = { shape: 'cold', path: productPath, accounts, orders, forms, pages }
    const wrk = new Wrk(fixture.server.port, requests, readers)
    await wrk.verify('200')
    return ratesAtLeast(context, 'list, not cached', 0.6, {
      service: (seconds) => invalidateCaches(fixture).then(() => wrk.rate(seconds)),
      other: bareRate(fixture, pageAndCount(fixture, pages), readers),
    })
  },
}

export const oneRecordCold: Benchmark = {
  name: 'one_record',
  bound: '≥ 0.35',
  async run(context) {
    const fixture = await verifiedFixture(context)
    const { small: accounts, orders } = fixture.files
    const requests: Requests = { shape: 'one', path: productPath, accounts, orders, forms, ids: smallRecords }
    const wrk = new Wrk(fixture.server.port, requests, readers)
    await wrk.verify('200')
    return ratesAtLeast(context, 'one record, not cached', 0.35, {
      service: (seconds) => invalidateCaches(fixture).then(() => wrk.rate(seconds)),
      other: bareRate(fixture, oneRecord(fixture), readers),
    })
  },
}

export const create: Benchmark = {
  name: 'create',
  bound: '≥ 0.5',
  async run(context) {
    const fixture = await verifiedFixture(context)
    const body = JSON.stringify({ name: partnerName })
    const requests: Requests = { shape: 'create', path: partnerPath, accounts: fixture.files.small, body }
    const wrk = new Wrk(fixture.server.port, requests, writers)
    await wrk.verify('201')
    const outcome = await ratesAtLeast(context, 'partners created', 0.5, {
      service: (seconds) => wrk.rate(seconds),
      other: bareRate(fixture, createPartner(fixture, partnerName), writers),
    })
    await verifyCreated(fixture)
    return outcome
  },
}

function bareRate({ url }: Fixture, script: Script, clients: number): (seconds: number) => Promise<number> {
  return (seconds) => pgbenchRate(url, script, clients, seconds)
}

/** Writes a file with the accounts and the current ETag of each one's list. */
export async function accountsWithEtags(fixture: Fixture, name = 'known.txt'): Promise<string> {
  const client = new Client()
  const known: (Fixture['small'][number] & { etag: string })[] = []
  await inParallel(fixture.small.length, readers, async (i) => {
    const account = fixture.small[i]
    if (account === undefined) return
    const response = await client.send({
      port: fixture.server.port,
      path: productPath,
      headers: headersOf(account),
    })
    const { etag } = response.headers
    if (response.status !== 200 || typeof etag !== 'string')
      throw new Error(`status ${response.status}, ETag ${etag}`)
    known.push({ ...account, etag })
  })
  client.close()
  const file = join(fixture.folder, name)
  writeFileSync(file, accountLines(known))
  return file
}

/** The tallies must match the partners that both sides have created. */
async function verifyCreated({ url }: Fixture): Promise<void> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ stored: string; tallied: string }>(
      `select (select count(*) from partner) as stored,
              (select sum(total) from tally where resource = 'partner') as tallied`,
    ),
  )
  if (rows[0] === undefined || Number(rows[0].stored) === 0 || rows[0].stored !== rows[0].tallied) {
    throw new Error(`partners stored and tallied: ${JSON.stringify(rows[0])}`)
  }
}
