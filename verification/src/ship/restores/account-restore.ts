import { spawn } from 'node:child_process'
import { closeSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { demoCompanies, demoPartners, demoProducts } from '../../../../server/src/cli/demo/demo-data.ts'
import { importRecords } from '../../../../server/src/import/import-records.ts'
import type { Check, Context, Outcome } from '../../check.ts'
import { Client, headersFor } from '../../client.ts'
import { partnerPath } from '../../fresh/read.ts'
import { grouped } from '../../progress.ts'
import { Service } from '../../service.ts'
import { checksums, differences } from './checksums.ts'
import { ConditionalReads } from './conditional-reads.ts'
import { PartnerWriter } from './partner-writer.ts'

const program = fileURLToPath(new URL('../../../../server/bin/quartermaster.js', import.meta.url))
const restored = 'acme'
const neighbours = ['north', 'south', 'east', 'west'] as const
const partnersAtStart = 700
const undoneWrites = 5

/**
 * One account with half of all records is exported, written and partly deleted, and restored: in place, and under another name.
 * Meanwhile the processes serve requests of its neighbours, of which no row may change.
 */
export const accountRestore: Check = {
  name: 'account_restore',
  bound: '0 lost, 0 of others, 0 stale, 0 failed',
  async run(context) {
    const service = await Service.start()
    const client = new Client(32)
    try {
      return await measure(context, service, client)
    } finally {
      client.close()
      await service.stop()
    }
  },
}

async function measure(context: Context, service: Service, client: Client): Promise<Outcome> {
  const { url } = service.postgres
  const keys = await importAccounts(context, service)
  const key = keys.get(restored) ?? ''
  const ports = [(await service.serve()).port, (await service.serve()).port]
  const reads = new ConditionalReads(client, ports, restored, key)
  const writer = new PartnerWriter(client, ports, restored, key)
  const file = join(service.folder, 'acme.ndjson')
  const notes: string[] = []

  await reads.observe('before the export', url)
  const atExport = await checksums(url)
  const neighbour = new NeighbourReads(client, ports, neighbours[0], keys.get(neighbours[0]) ?? '')
  notes.push(await timed('account export', file, () => exportTo(service, file)))
  for (let n = 0; n < undoneWrites; n++) {
    await writer.create('undone')
    await reads.observe(`undone write ${n}`, url)
  }
  const records = demoProducts(1)
  await importRecords({ ownerUrl: url, account: restored, resource: 'product', records, replace: true })

  const before = await checksums(url, { rowVersions: true })
  notes.push(
    await timed('account restore --replace', file, () =>
      service.command(['account', 'restore', file, '--replace']),
    ),
    await timed('account restore --as copy', file, () =>
      service.command(['account', 'restore', file, '--as', 'copy']),
    ),
  )
  const failed = await neighbour.end()
  const isNeighbour = (name: string) => name !== restored && name !== 'copy'
  const touched = differences(before, await checksums(url, { rowVersions: true }), isNeighbour)
  const after = await checksums(url)
  const recordTables = ['product', 'partner', 'company']
  const lost = [restored, 'copy'].flatMap((name) =>
    recordTables
      .filter((table) => after.get(`${name} ${table}`) !== atExport.get(`${restored} ${table}`))
      .map((table) => `${name} ${table}`),
  )
  for (let n = 0; n < undoneWrites; n++) {
    await reads.observe(`after the restore, write ${n}`, url)
    await writer.create('created')
  }
  await service.command(['doctor', '--all-tallies'])
  const stale = reads.stale + reads.falseNotModified
  return {
    value: `${lost.length} lost, ${touched.length} of others, ${stale} stale, ${failed} failed`,
    samples: Math.min(reads.requests, neighbour.requests),
    ok: lost.length + touched.length + stale + failed === 0 && neighbour.requests > 0,
    note: [
      `${grouped(neighbour.requests)} requests of a neighbour meanwhile; different: ${[...lost, ...touched].join(', ') || 'none'}`,
      ...notes,
      ...reads.faults,
    ].join('\n'),
  }
}

async function importAccounts(context: Context, service: Service): Promise<ReadonlyMap<string, string>> {
  const keys = new Map<string, string>()
  const all = context.size(1_000_000, 4_000)
  for (const [n, account] of [restored, ...neighbours].entries()) {
    keys.set(account, await service.account(account))
    const count = (account === restored ? all / 2 : all / 2 / neighbours.length) - partnersAtStart
    const [ownerUrl, seed] = [service.postgres.url, context.seed + n]
    await importRecords({
      ownerUrl,
      account,
      resource: 'product',
      records: demoProducts(Math.max(10, count), seed),
    })
    await importRecords({
      ownerUrl,
      account,
      resource: 'partner',
      records: demoPartners(partnersAtStart, seed),
    })
    await importRecords({ ownerUrl, account, resource: 'company', records: demoCompanies(3, seed) })
    context.log(`${account}: ${grouped(count + partnersAtStart + 3)} records`)
  }
  return keys
}

/** As in a shell: `quartermaster account export acme > FILE`. */
async function exportTo(service: Service, file: string): Promise<void> {
  const output = openSync(file, 'w')
  const child = spawn(process.execPath, [program, 'account', 'export', restored], {
    env: { ...process.env, ...service.environment },
    stdio: ['ignore', output, 'ignore'],
  })
  closeSync(output)
  const code = await new Promise((resolve) => child.once('exit', resolve))
  if (code !== 0) throw new Error(`account export exited with ${String(code)}`)
}

async function timed(label: string, file: string, work: () => Promise<unknown>): Promise<string> {
  const started = performance.now()
  await work()
  const seconds = (performance.now() - started) / 1000
  return `${label}: ${seconds.toFixed(1)} s, ${(statSync(file).size / 1e6).toFixed(1)} MB`
}

/** Requests of another account, until `end`. */
class NeighbourReads {
  requests = 0
  #failed = 0
  #isRunning = true
  readonly #running: Promise<void>

  constructor(client: Client, ports: readonly number[], account: string, key: string) {
    this.#running = this.#read(client, ports, headersFor(account, key))
    // `end` throws the error.
    this.#running.catch(() => {})
  }

  /** Returns the number of failed requests. */
  async end(): Promise<number> {
    this.#isRunning = false
    await this.#running
    return this.#failed
  }

  async #read(client: Client, ports: readonly number[], headers: readonly string[]): Promise<void> {
    while (this.#isRunning) {
      const port = ports[this.requests % ports.length] ?? 0
      const page = 1 + (this.requests % 50)
      const { status } = await client.send({
        port,
        path: `${partnerPath}?fields=id,name&page=${page}`,
        headers,
      })
      this.requests += 1
      if (status !== 200) this.#failed += 1
      await sleep(10)
    }
  }
}
