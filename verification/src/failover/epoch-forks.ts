import { join } from 'node:path'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { PostgresNode } from '../replication/postgres-node.ts'
import type { PostgresNodes } from '../replication/postgres-nodes.ts'
import { database } from './movable-service.ts'

/** PostgreSQL resolves a deadlock by ending the session whose deadlock_timeout expires first: this makes it the request, not the restore. */
const longDeadlockTimeout = `options=${encodeURIComponent('-c deadlock_timeout=60s')}`

/** A procedure that returns the database to an earlier state, from which other writes follow. */
export interface Fork {
  readonly name: string
  /** The server processes stay connected and receive requests during the procedure. Otherwise they cannot connect meanwhile. */
  readonly online?: boolean
  /** The cluster returns to an earlier timeline, which a server process may reject until it is restarted. */
  readonly restart?: boolean
  /** Returns the server to use from now on, in the state that all forks begin with. */
  run(): Promise<PostgresNode>
}

/** All forks. Each uses the servers of the ones before it. `origin` is stopped and never changed. */
export class Forks {
  readonly #nodes: PostgresNodes
  readonly #origin: PostgresNode
  readonly #dump: string
  readonly #roles: string
  readonly #archive: string
  readonly #nodesByName = new Map<string, PostgresNode>()

  constructor(nodes: PostgresNodes, origin: PostgresNode) {
    this.#nodes = nodes
    this.#origin = origin
    this.#dump = join(nodes.folder, 'dump')
    this.#roles = join(nodes.folder, 'roles.sql')
    this.#archive = join(nodes.folder, 'archive')
  }

  get all(): readonly Fork[] {
    const restore = (...options: string[]) => this.#restore('other', options)
    const clean = ['--clean', '--if-exists']
    return [
      { name: 'first', run: () => this.#first() },
      { name: 'copy of the files put back', run: () => this.#archived() },
      { name: 'recovered to a point in time', run: () => this.#recovered('backup-1', 'archived') },
      { name: 'recovered to it again', run: () => this.#recovered('backup-2', 'backup-1') },
      {
        name: 'recovered to it again, with standbys',
        run: () => this.#withStandbys('backup-3', 'backup-2'),
      },
      { name: 'failover with loss of writes', run: () => this.#promoted('standby-1', 'backup-3') },
      { name: 'second promotion, same timeline', run: () => this.#promoted('standby-2', 'standby-1') },
      { name: 'earlier timeline put back', restart: true, run: () => this.#copied('last', 'standby-2') },
      { name: 'pg_restore into another cluster', run: () => this.#anotherCluster('last') },
      { name: 'database dropped, created, restored', run: () => this.#anotherDatabase() },
      { name: 'pg_restore --clean, online', online: true, run: () => restore(...clean) },
      {
        name: 'pg_restore --clean in one transaction, online',
        online: true,
        run: () => restore(...clean, '--single-transaction'),
      },
    ]
  }

  async #first(): Promise<PostgresNode> {
    const first = await this.#copied('first', undefined)
    await this.#nodes.run('pg_dump', ['-Fc', '-f', this.#dump, first.url(database)])
    await this.#nodes.run('pg_dumpall', ['--globals-only', '-f', this.#roles, '-d', first.url('postgres')])
    return first
  }

  async #anotherCluster(before: string): Promise<PostgresNode> {
    const other = await this.#nodes.initialise('other')
    this.#nodesByName.set('other', other)
    await other.start()
    // Prints an error for the role postgres, which exists already, and continues.
    await this.#nodes.run('psql', ['-q', '-f', this.#roles, other.url('postgres')])
    await this.#command(other, `create database ${database}`)
    await this.#node(before).stop()
    return this.#restore('other', [])
  }

  async #anotherDatabase(): Promise<PostgresNode> {
    const other = this.#node('other')
    await this.#command(other, `drop database ${database} with (force)`)
    await this.#command(other, `create database ${database}`)
    return this.#restore('other', [])
  }

  async #restore(name: string, options: readonly string[]): Promise<PostgresNode> {
    const node = this.#node(name)
    await this.#nodes.run('pg_restore', [
      ...options,
      '-d',
      `${node.url(database)}?${longDeadlockTimeout}`,
      this.#dump,
    ])
    return node
  }

  async #archived(): Promise<PostgresNode> {
    await this.#nodes.run('mkdir', [this.#archive])
    const archived = await this.#copied('archived', 'first', {
      archive_mode: 'on',
      archive_command: `cp %p ${this.#archive}/%f`,
    })
    const backup = await this.#nodes.baseBackup(archived, 'backup-1')
    this.#nodesByName.set('backup-1', backup)
    for (const name of ['backup-2', 'backup-3'])
      this.#nodesByName.set(name, await this.#nodes.copy(backup, name))
    await this.#command(archived, `select pg_create_restore_point('fork')`)
    return archived
  }

  /** The archive has no history file of the first recovery, so a second one gets the same timeline number. */
  async #recovered(name: string, before: string): Promise<PostgresNode> {
    await this.#node(before).stop()
    const recovered = this.#node(name)
    await this.#nodes.run('touch', [join(recovered.data, 'recovery.signal')])
    await recovered.start({
      restore_command: `cp ${this.#archive}/%f %p`,
      recovery_target_name: 'fork',
      recovery_target_action: 'promote',
    })
    await recovered.promoted()
    await isOnTimeline(recovered, 2)
    return recovered
  }

  /** The standbys disconnect at once: everything written after that is lost with the primary. */
  async #withStandbys(name: string, before: string): Promise<PostgresNode> {
    const primary = await this.#recovered(name, before)
    for (const standbyName of ['standby-1', 'standby-2']) {
      const standby = await this.#nodes.baseBackup(primary, standbyName, { standby: true })
      this.#nodesByName.set(standbyName, standby)
      await standby.start()
      await standby.caughtUpWith(primary)
      await standby.disconnectFromPrimary()
    }
    return primary
  }

  async #promoted(name: string, before: string): Promise<PostgresNode> {
    await this.#node(before).kill()
    const standby = this.#node(name)
    await standby.promote()
    await isOnTimeline(standby, 3)
    return standby
  }

  async #copied(
    name: string,
    before: string | undefined,
    settings: Record<string, string> = {},
  ): Promise<PostgresNode> {
    if (before !== undefined) await this.#node(before).stop()
    const copy = await this.#nodes.copy(this.#origin, name)
    this.#nodesByName.set(name, copy)
    await copy.start(settings)
    return copy
  }

  #node(name: string): PostgresNode {
    const node = this.#nodesByName.get(name)
    if (node === undefined) throw new Error(`there is no server ${name} yet`)
    return node
  }

  async #command(node: PostgresNode, text: string): Promise<void> {
    await withClient(node.url('postgres'), (client) => client.query(text))
  }
}

/** The forks must reach the same timeline number, or they would not test that the service distinguishes them. */
async function isOnTimeline(server: PostgresNode, number: number): Promise<void> {
  const timeline = await withClient(server.url('postgres'), async (client) => {
    const { rows } = await client.query<{ timeline: string }>(
      'select substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as timeline',
    )
    return Number.parseInt(rows[0]?.timeline ?? '', 16)
  })
  if (timeline !== number) throw new Error(`the server is on timeline ${timeline}, not ${number}`)
}
