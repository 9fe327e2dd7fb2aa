import { documented } from '../../../../architecture/documented.ts'
import { postgresBinaries } from '../../../../server/src/cli/database/find-postgres.ts'
import { demoCompanies, demoPartners, demoProducts } from '../../../../server/src/cli/demo/demo-data.ts'
import { importRecords } from '../../../../server/src/import/import-records.ts'
import { withClient } from '../../../../server/src/postgres/client.ts'
import type { Check, Context, Outcome } from '../../check.ts'
import { database, type MovableService, startMovableService } from '../../failover/movable-service.ts'
import { grouped } from '../../progress.ts'
import type { PostgresNode } from '../../replication/postgres-node.ts'
import { PostgresNodes } from '../../replication/postgres-nodes.ts'
import { checksums, differences } from './checksums.ts'
import { ConditionalReads } from './conditional-reads.ts'
import { PartnerWriter } from './partner-writer.ts'
import { PgBackRest } from './pgbackrest.ts'

/** Its partners are written while the backups are made. The records of the others do not change. */
const written = 'acme'
const others = ['north', 'south', 'east', 'west'] as const
/** More than a small account has, so that totals and page ends are cached. */
const partnersAtStart = 700
/** Writes after the point in time, which are undone. As many follow the restore, so that versions collide. */
const undoneWrites = 5

/**
 * With running server processes: a backup, more writes, a wrong import, the loss of the server with its files, and a restore into
 * a new one. First by pgBackRest to a point in time, then by pg_dump into a new cluster.
 */
export const backupRestore: Check = {
  name: 'backup_restore',
  needs: ['pgbackrest', 'pg_dump'],
  bound: '0 lost, 0 stale, 0 false 304',
  async run(context) {
    const nodes = new PostgresNodes()
    try {
      const first = await nodes.initialise('first')
      const backups = new PgBackRest(nodes)
      await backups.configure(first)
      await first.start(backups.settings)
      const movable = await startMovableService(nodes, first, written)
      try {
        return await new Scenario(context, movable, backups, first).run()
      } finally {
        await movable.stop()
      }
    } finally {
      await nodes.stop()
    }
  },
}

class Scenario {
  readonly #context: Context
  readonly #movable: MovableService
  readonly #backups: PgBackRest
  #node: PostgresNode
  #lost = 0
  readonly #notes: string[] = []

  constructor(context: Context, movable: MovableService, backups: PgBackRest, first: PostgresNode) {
    this.#context = context
    this.#movable = movable
    this.#backups = backups
    this.#node = first
  }

  get #url(): string {
    return this.#node.url(database)
  }

  async run(): Promise<Outcome> {
    const { service, client, key, nodes } = this.#movable
    await this.#backups.createStanza()
    const records = await this.#import()
    const ports = [(await service.serve()).port, (await service.serve()).port]
    const reads = new ConditionalReads(client, ports, written, key)
    const writer = new PartnerWriter(client, ports, written, key)

    writer.resume()
    await this.#timed('pgbackrest backup', () => this.#backups.backup())
    const beforeDump = new Map(writer.created)
    await this.#timed('pg_dump', () => this.#bash(documented('dump'), { DATABASE_OWNER_URL: this.#url }))
    await writer.pause()

    const atPoint = await checksums(this.#url)
    const beforePoint = new Map(writer.created)
    await reads.observe('before the point in time', this.#url)
    const point = await this.#now()
    await this.#undone(writer, reads)
    await this.#backups.archiveAll(this.#node)
    await this.#destroy()
    const recovered = await nodes.initialise('recovered')
    await this.#timed('pgbackrest restore', () => this.#backups.restore(recovered, point))
    await recovered.start(this.#backups.settings)
    await recovered.promoted()
    this.#node = recovered
    this.#moveAddress()
    await reads.available()
    await this.#compare('pgbackrest', beforePoint, atPoint, writer.created)
    for (let n = 1; n <= undoneWrites; n++) {
      await reads.observe(`after pgbackrest restore, write ${n - 1}`, this.#url)
      await writer.create('recreated')
    }

    await this.#destroy()
    this.#node = await nodes.initialise('new')
    await this.#node.start()
    await withClient(this.#node.url('postgres'), async (superuser) => {
      for (const statement of documented('database-roles').split(';\n')) await superuser.query(statement)
    })
    const urls = { NEW_OWNER_URL: this.#url }
    await this.#timed('pg_restore', () => this.#bash(documented('restore-dump'), urls))
    this.#moveAddress()
    await reads.available()
    await this.#compare('pg_dump', beforeDump, atPoint, writer.created)
    for (let n = 0; n < undoneWrites; n++) {
      await reads.observe(`after pg_restore, write ${n}`, this.#url)
      await writer.create('created again')
    }
    await service.command(['doctor', '--all-tallies'])
    const { stale, falseNotModified, requests, faults } = reads
    return {
      value: `${this.#lost} lost, ${stale} stale, ${falseNotModified} false 304`,
      samples: Math.min(requests, records),
      ok: this.#lost + stale + falseNotModified === 0,
      note: [
        `${grouped(records)} records; ${grouped(requests)} requests to 2 processes; ${beforePoint.size} creates before the point in time`,
        ...this.#notes,
        ...faults,
      ].join('\n'),
    }
  }

  /** Products in all accounts, and some partners and companies. */
  async #import(): Promise<number> {
    const { service } = this.#movable
    for (const name of others) await service.account(name)
    const accounts = [written, ...others]
    const products = Math.floor(this.#context.size(1_000_000, 4_000) / accounts.length) - partnersAtStart
    for (const [n, account] of accounts.entries()) {
      const ownerUrl = this.#url
      const seed = this.#context.seed + n
      await importRecords({ ownerUrl, account, resource: 'product', records: demoProducts(products, seed) })
      await importRecords({
        ownerUrl,
        account,
        resource: 'partner',
        records: demoPartners(partnersAtStart, seed),
      })
      await importRecords({ ownerUrl, account, resource: 'company', records: demoCompanies(3, seed) })
      this.#context.log(`${account}: ${grouped(products + partnersAtStart + 3)} records`)
    }
    return accounts.length * (products + partnersAtStart + 3)
  }

  /** What must not be there after the restore: more creates, and an import that deletes almost everything of an account. */
  async #undone(writer: PartnerWriter, reads: ConditionalReads): Promise<void> {
    for (let n = 0; n < undoneWrites; n++) {
      await writer.create('undone')
      await reads.observe(`undone write ${n}`, this.#url)
    }
    const records = demoProducts(1)
    await importRecords({
      ownerUrl: this.#url,
      account: others[0],
      resource: 'product',
      records,
      replace: true,
    })
  }

  /** The server is killed and its files are removed. */
  async #destroy(): Promise<void> {
    await this.#node.kill()
    await this.#movable.nodes.remove(this.#node)
  }

  #moveAddress(): void {
    this.#movable.address.moveTo(this.#node.port, 'leave')
  }

  async #now(): Promise<string> {
    return await withClient(this.#url, async (client) => {
      const { rows } = await client.query<{ now: string }>('select clock_timestamp()::text as now')
      return rows[0]?.now ?? ''
    })
  }

  /** Runs commands as the owner of the files. */
  async #bash(commands: string, environment: Readonly<Record<string, string>>): Promise<void> {
    const { nodes } = this.#movable
    const settings = { PATH: `${postgresBinaries()}:${process.env['PATH'] ?? ''}`, ...environment }
    const script = Object.entries(settings).map(([name, value]) => `export ${name}='${value}'\n`)
    await nodes.run('bash', ['-euc', `${script.join('')}${commands}`])
  }

  /**
   * Every create that was acknowledged before the backup's point is stored with its id, and nothing later that was undone. The
   * accounts that were not written are the same, row by row.
   */
  async #compare(
    label: string,
    expected: ReadonlyMap<string, number>,
    atPoint: ReadonlyMap<string, string>,
    all: ReadonlyMap<string, number>,
  ): Promise<void> {
    const stored = await withClient(this.#url, async (client) => {
      const { rows } = await client.query<{ id: number; name: string }>(
        `select id::float8 as id, name from partner where name like '%created %' or name like 'undone %'`,
      )
      return new Map(rows.map(({ name, id }) => [name, id]))
    })
    const missing = [...expected].filter(([name, id]) => stored.get(name) !== id)
    // A dump may have creates that were acknowledged while it began; none has another id than the acknowledged one.
    const wrong = [...stored].filter(([name, id]) => name.startsWith('undone') || all.get(name) !== id)
    const exact = label === 'pgbackrest'
    const changed = differences(atPoint, await checksums(this.#url), (name) => exact || name !== written)
    this.#lost += missing.length + wrong.length + changed.length
    for (const [name] of [...missing, ...wrong].slice(0, 3))
      this.#notes.push(`${label}: ${name} is missing or wrong`)
    if (changed.length > 0) this.#notes.push(`${label}: other rows in ${changed.join(', ')}`)
    this.#notes.push(`${label}: ${expected.size} acknowledged creates expected, ${stored.size} stored`)
  }

  async #timed(label: string, work: () => Promise<unknown>): Promise<void> {
    const started = performance.now()
    await work()
    this.#notes.push(`${label}: ${((performance.now() - started) / 1000).toFixed(1)} s`)
  }
}
