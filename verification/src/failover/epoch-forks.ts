import { join } from 'node:path'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { PostgresNode } from '../replication/postgres-node.ts'
import type { PostgresNodes } from '../replication/postgres-nodes.ts'

/** In a deadlock with a request, PostgreSQL is to end the request: who waits a second is ended, and a restore waits longer. */
const patient = `options=${encodeURIComponent('-c deadlock_timeout=60s')}`

export const database = 'quartermaster'

/** One way to bring the database back to an earlier state, from which it goes on with other writes. */
export interface Fork {
  readonly name: string
  /** The processes keep their connections and are asked all the while; otherwise they find no database meanwhile. */
  readonly online?: boolean
  /** An earlier timeline of the same cluster comes back: a process may refuse to serve it until it is restarted. */
  readonly restart?: boolean
  /** Returns the server that is to be used from now on, in the state that all forks begin with. */
  make(): Promise<PostgresNode>
}

/** The ways, in the order in which one follows from the other. `origin` is stopped, and stays as it is. */
export class Forks {
  readonly #nodes: PostgresNodes
  readonly #origin: PostgresNode
  readonly #dump: string
  readonly #roles: string
  readonly #archive: string
  readonly #made = new Map<string, PostgresNode>()

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
      { name: 'first', make: () => this.#first() },
      { name: 'copy of the files put back', make: () => this.#archived() },
      { name: 'recovered to a point in time', make: () => this.#recovered('backup-1', 'archived') },
      { name: 'recovered to it again', make: () => this.#recovered('backup-2', 'backup-1') },
      {
        name: 'recovered to it again, with standbys',
        make: () => this.#withStandbys('backup-3', 'backup-2'),
      },
      { name: 'failover with loss of writes', make: () => this.#promoted('standby-1', 'backup-3') },
      { name: 'second promotion, same timeline', make: () => this.#promoted('standby-2', 'standby-1') },
      { name: 'earlier timeline put back', restart: true, make: () => this.#copied('last', 'standby-2') },
      { name: 'pg_restore into another cluster', make: () => this.#anotherCluster('last') },
      { name: 'database dropped, created, restored', make: () => this.#anotherDatabase() },
      { name: 'pg_restore --clean, online', online: true, make: () => restore(...clean) },
      {
        name: 'pg_restore --clean in one transaction, online',
        online: true,
        make: () => restore(...clean, '--single-transaction'),
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
    this.#made.set('other', other)
    await other.start()
    // It complains of the role postgres, which is there already, and goes on.
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
    await this.#nodes.run('pg_restore', [...options, '-d', `${node.url(database)}?${patient}`, this.#dump])
    return node
  }

  async #archived(): Promise<PostgresNode> {
    await this.#nodes.run('mkdir', [this.#archive])
    const archived = await this.#copied('archived', 'first', {
      archive_mode: 'on',
      archive_command: `cp %p ${this.#archive}/%f`,
    })
    const backup = await this.#nodes.baseBackup(archived, 'backup-1')
    this.#made.set('backup-1', backup)
    for (const name of ['backup-2', 'backup-3']) this.#made.set(name, await this.#nodes.copy(backup, name))
    await this.#command(archived, `select pg_create_restore_point('fork')`)
    return archived
  }

  /** The archive has no oracle of the first recovery, so a second one takes the same timeline. */
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

  /** The standbys stop following at once: whatever is written from now on is lost with the primary. */
  async #withStandbys(name: string, before: string): Promise<PostgresNode> {
    const primary = await this.#recovered(name, before)
    for (const standbyName of ['standby-1', 'standby-2']) {
      const standby = await this.#nodes.baseBackup(primary, standbyName, { standby: true })
      this.#made.set(standbyName, standby)
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
    this.#made.set(name, copy)
    await copy.start(settings)
    return copy
  }

  #node(name: string): PostgresNode {
    const found = this.#made.get(name)
    if (found === undefined) throw new Error(`there is no server ${name} yet`)
    return found
  }

  async #command(node: PostgresNode, text: string): Promise<void> {
    await withClient(node.url('postgres'), (client) => client.query(text))
  }
}

/** Recoveries, and later promotions, meet on one timeline number. If they did not, they would show nothing. */
async function isOnTimeline(server: PostgresNode, number: number): Promise<void> {
  const timeline = await withClient(server.url('postgres'), async (client) => {
    const { rows } = await client.query<{ timeline: string }>(
      'select substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as timeline',
    )
    return Number.parseInt(rows[0]?.timeline ?? '', 16)
  })
  if (timeline !== number) throw new Error(`a server is on timeline ${timeline}, not ${number}`)
}
