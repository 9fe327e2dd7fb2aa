import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { documented } from '../../../../architecture/documented.ts'
import { withClient } from '../../../../server/src/postgres/client.ts'
import type { PostgresNode } from '../../replication/postgres-node.ts'
import type { PostgresNodes } from '../../replication/postgres-nodes.ts'
import { waitUntil } from '../../wait-until.ts'

/** pgBackRest with a repository in the folder of the servers, by the commands and with the configuration of docs/operating/backup.md. */
export class PgBackRest {
  readonly #nodes: PostgresNodes
  readonly #file: string

  constructor(nodes: PostgresNodes) {
    this.#nodes = nodes
    this.#file = join(nodes.folder, 'pgbackrest.conf')
  }

  /** Of a server whose WAL is archived. */
  get settings(): Record<string, string> {
    const lines = documented('archive-settings').matchAll(/^(\w+) = '?(.*?)'?$/gm)
    return Object.fromEntries(
      [...lines].map(([, name = '', value = '']) => [name, this.#configured(value)] as const),
    )
  }

  async configure(node: PostgresNode): Promise<void> {
    const { folder } = this.#nodes
    const [global = '', stanza = ''] = documented('pgbackrest-configuration')
      .replace(/^repo1-path=.*$/m, `repo1-path=${folder}/repository`)
      .replace(/^pg1-path=.*$/m, `pg1-path=${node.data}`)
      .split('\n\n')
    // What differs from Debian's paths and port. The long timeout is for a busy machine.
    const own = `lock-path=${folder}/lock\nlog-level-file=off\narchive-timeout=600\n`
    const connection = `pg1-port=${node.port}\npg1-socket-path=${folder}\npg1-user=postgres\n`
    writeFileSync(this.#file, `${global}\n${own}\n${stanza}${connection}`)
  }

  async createStanza(): Promise<void> {
    await this.#run(documented('pgbackrest-setup'))
  }

  async backup(): Promise<void> {
    await this.#run(documented('pgbackrest-backup'))
  }

  /** Resolves when all WAL that the server has written so far is in the repository. */
  async archiveAll(node: PostgresNode): Promise<void> {
    await withClient(node.url('postgres'), async (client) => {
      const { rows } = await client.query<{ file: string }>('select pg_walfile_name(pg_switch_wal()) as file')
      await waitUntil(async () => {
        const archived = await client.query<{ done: boolean }>(
          'select coalesce(last_archived_wal >= $1, false) as done from pg_stat_archiver',
          [rows[0]?.file],
        )
        return archived.rows[0]?.done === true
      }, 600_000)
    })
  }

  /** Restores into the folder of a server that has not been started, and continues on a new timeline at `time`. */
  async restore(node: PostgresNode, time: string): Promise<void> {
    await this.#nodes.run('rm', ['-rf', node.data])
    await this.#nodes.run('mkdir', ['-m', '700', node.data])
    await this.configure(node)
    await this.#run(documented('pgbackrest-restore').replace(/--target="[^"]*"/, `--target="${time}"`))
  }

  /** With its own configuration file. Not by PGBACKREST_CONFIG, which the restore_command of the restored server would lack. */
  async #run(script: string): Promise<void> {
    await this.#nodes.run('bash', ['-euc', this.#configured(script)])
  }

  #configured(commands: string): string {
    return commands.replaceAll(/^pgbackrest /gm, `pgbackrest --config=${this.#file} `)
  }
}
