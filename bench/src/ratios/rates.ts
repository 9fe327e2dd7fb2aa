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
import { accountLines, type Fixture, smallRecords, standOf } from './fixture.ts'
import { forgetAll } from './forget.ts'
import { pgbenchRate, type Script } from './pgbench.ts'
import { headersOf, proveSameWork } from './same-work.ts'

const readers = 32
const writers = 16
/**
 * Enough that no request of a run comes twice, and not so many that preparing their statements, on each connection, is
 * what is measured: the bare engine has one.
 */
export const forms = 8
const productPath = '/api/v1/inventory/product'
const partnerPath = '/api/v1/resources/partner'
const partnerName = 'Nordwind Logistics'

export const mainFixture = standOf('main', (context) => ({
  records: context.size(1_000_000, 100_000),
  accounts: context.size(10_000, 1_000),
}))

const proven = new WeakSet<Fixture>()

/** The fixture, once both sides were seen to do the same work on it. */
export async function provenFixture(context: Context): Promise<Fixture> {
  const fixture = await mainFixture(context)
  if (!proven.has(fixture)) await proveSameWork(fixture, context.seed)
  proven.add(fixture)
  return fixture
}

export const warmList: Benchmark = {
  name: 'warm_list',
  bound: '≥ 1.5',
  async run(context) {
    const fixture = await provenFixture(context)
    const requests: Requests = { shape: 'list', path: productPath, accounts: fixture.files.small }
    const wrk = new Wrk(fixture.server.port, requests, readers)
    await wrk.prove('200', fixture.small.length)
    return ratesAtLeast(context, 'list, asked again', 1.5, {
      service: (seconds) => wrk.rate(seconds),
      other: bareRate(fixture, pageAndCount(fixture, 1), readers),
    })
  },
}

export const notModified: Benchmark = {
  name: 'not_modified',
  bound: '≥ 1.8',
  async run(context) {
    const fixture = await provenFixture(context)
    const accounts = await knownAnswers(fixture)
    const wrk = new Wrk(fixture.server.port, { shape: 'list', path: productPath, accounts }, readers)
    await wrk.prove('304')
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
    const fixture = await provenFixture(context)
    const pages = smallRecords / 10
    const { small: accounts, orders } = fixture.files
    const requests: Requests = { shape: 'cold', path: productPath, accounts, orders, forms, pages }
    const wrk = new Wrk(fixture.server.port, requests, readers)
    await wrk.prove('200')
    return ratesAtLeast(context, 'list, never asked before', 0.6, {
      service: (seconds) => forgetAll(fixture).then(() => wrk.rate(seconds)),
      other: bareRate(fixture, pageAndCount(fixture, pages), readers),
    })
  },
}

export const oneRecordCold: Benchmark = {
  name: 'one_record',
  bound: '≥ 0.35',
  async run(context) {
    const fixture = await provenFixture(context)
    const { small: accounts, orders } = fixture.files
    const requests: Requests = { shape: 'one', path: productPath, accounts, orders, forms, ids: smallRecords }
    const wrk = new Wrk(fixture.server.port, requests, readers)
    await wrk.prove('200')
    return ratesAtLeast(context, 'one record, never asked before', 0.35, {
      service: (seconds) => forgetAll(fixture).then(() => wrk.rate(seconds)),
      other: bareRate(fixture, oneRecord(fixture), readers),
    })
  },
}

export const create: Benchmark = {
  name: 'create',
  bound: '≥ 0.5',
  async run(context) {
    const fixture = await provenFixture(context)
    const body = JSON.stringify({ name: partnerName })
    const requests: Requests = { shape: 'create', path: partnerPath, accounts: fixture.files.small, body }
    const wrk = new Wrk(fixture.server.port, requests, writers)
    await wrk.prove('201')
    const outcome = await ratesAtLeast(context, 'partners created', 0.5, {
      service: (seconds) => wrk.rate(seconds),
      other: bareRate(fixture, createPartner(fixture, partnerName), writers),
    })
    await proveKept(fixture)
    return outcome
  },
}

function bareRate({ url }: Fixture, script: Script, clients: number): (seconds: number) => Promise<number> {
  return (seconds) => pgbenchRate(url, script, clients, seconds)
}

/** A file of the accounts with the ETag that each one's list has now. */
export async function knownAnswers(fixture: Fixture, name = 'known.txt'): Promise<string> {
  const client = new Client()
  const known: (Fixture['small'][number] & { etag: string })[] = []
  await inParallel(fixture.small.length, readers, async (i) => {
    const account = fixture.small[i]
    if (account === undefined) return
    const answer = await client.ask({
      port: fixture.server.port,
      path: productPath,
      headers: headersOf(account),
    })
    const { etag } = answer.headers
    if (answer.status !== 200 || typeof etag !== 'string') throw new Error(`${answer.status} without an ETag`)
    known.push({ ...account, etag })
  })
  client.close()
  const file = join(fixture.folder, name)
  writeFileSync(file, accountLines(known))
  return file
}

/** Both sides wrote what they said, and the tallies know of it. */
async function proveKept({ url }: Fixture): Promise<void> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ kept: string; tallied: string }>(
      `select (select count(*) from partner) as kept,
              (select sum(total) from tally where resource = 'partner') as tallied`,
    ),
  )
  if (rows[0] === undefined || Number(rows[0].kept) === 0 || rows[0].kept !== rows[0].tallied) {
    throw new Error(`partners kept and tallied: ${JSON.stringify(rows[0])}`)
  }
}
