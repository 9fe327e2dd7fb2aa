import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { PostgresNode } from '../replication/postgres-node.ts'
import type { PostgresNodes } from '../replication/postgres-nodes.ts'
import { waitUntil } from '../wait-until.ts'
import { documented } from './documented.ts'

/** pgBackRest with a repository in the folder of the servers, by the commands of docs/operating.md. */
export class PgBackRest {
  readonly #nodes: PostgresNodes
  readonly #file: string

  constructor(nodes: PostgresNodes) {
    this.#nodes = nodes
    this.#file = join(nodes.folder, 'pgbackrest.conf')
  }

  /** Of a server whose WAL is archived. */
  get settings(): Record<string, string> {
    return {
      archive_mode: 'on',
      archive_command: `pgbackrest --config=${this.#file} --stanza=quartermaster archive-push %p`,
    }
  }

  async configure(node: PostgresNode): Promise<void> {
    const { folder } = this.#nodes
    writeFileSync(
      this.#file,
      `[global]
repo1-path=${folder}/repository
repo1-retention-full=2
lock-path=${folder}/lock
log-level-file=off
compress-type=zst
process-max=2
start-fast=y
archive-timeout=600

[quartermaster]
pg1-path=${node.data}
pg1-port=${node.port}
pg1-socket-path=${folder}
pg1-user=postgres
`,
    )
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
    const configured = script.replaceAll(/^pgbackrest /gm, `pgbackrest --config=${this.#file} `)
    await this.#nodes.run('bash', ['-euc', configured])
  }
}
