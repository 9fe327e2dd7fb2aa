import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { documented } from '../../../../architecture/documented.ts'
import { postgresBinaries } from '../../../../server/src/cli/database/find-postgres.ts'
import { withClient } from '../../../../server/src/postgres/client.ts'
import type { Check } from '../../check.ts'
import type { PostgresNode } from '../../replication/postgres-node.ts'
import { PostgresNodes } from '../../replication/postgres-nodes.ts'
import { checksums, differences } from './checksums.ts'

const program = fileURLToPath(new URL('../../../../server/bin/quartermaster.js', import.meta.url))
const runProgram = promisify(execFile)

/** What a restore by another role, or a superuser who cleans up, leaves behind. Doctor names each, and its repair works. */
const damages: readonly { readonly statement: string; readonly finding: RegExp }[] = [
  { statement: 'alter table partner owner to postgres', finding: /partner belongs to postgres/ },
  { statement: 'alter database quartermaster owner to postgres', finding: /does not own the database/ },
  {
    statement: 'revoke select on product from quartermaster_server',
    finding: /lacks the privilege select on product/,
  },
  {
    statement: 'revoke insert on audit from quartermaster_writer',
    finding: /lacks the privilege insert on audit/,
  },
  {
    statement: 'revoke quartermaster_writer from quartermaster',
    finding: /cannot set the role quartermaster_writer/,
  },
]

/** What migrations do: they change a table, create one, index it, and grant privileges. */
const nextMigration = `alter table product add column next_version text;
create table next_version (account_id bigint, id bigint, primary key (account_id, id));
create index next_version_text on next_version using gin (account_id, (id::text) gin_trgm_ops);
grant select on next_version to quartermaster_server, quartermaster_writer;
drop table next_version;
alter table product drop column next_version;`

/**
 * The documented roles, dump and restore, as written, from one cluster into another: the same rows, requests are served, the owner can
 * migrate, and doctor finds no problem, but finds each kind of damage.
 */
export const restoredRoles: Check = {
  name: 'restored_roles',
  bound: 'works as written, 0 rows differ',
  needs: ['pg_dump', 'psql'],
  async run() {
    const nodes = new PostgresNodes()
    try {
      const first = new Cluster(nodes, await nodes.initialise('first'))
      await first.install()
      await first.quartermaster('migrate')
      await first.quartermaster('account', 'create', 'acme')
      await first.quartermaster(
        'key',
        'create',
        '--account',
        'acme',
        '--name',
        'shop',
        '--scopes',
        'product:read',
      )
      await first.fill()
      await first.bash(documented('dump'), { DATABASE_OWNER_URL: first.url('quartermaster_owner') })

      const second = new Cluster(nodes, await nodes.initialise('second'))
      await second.install()
      await second.bash(documented('restore-dump'), { NEW_OWNER_URL: second.url('quartermaster_owner') })
      const changed = differences(
        await checksums(first.superuser),
        await checksums(second.superuser),
        () => true,
      )
      await second.quartermaster('migrate')
      await withClient(second.url('quartermaster_owner'), (client) => client.query(nextMigration))
      await second.quartermaster('doctor', '--all-tallies')
      const undetected = []
      for (const { statement, finding } of damages) {
        const found = await second.damaged(statement)
        if (!found.some(({ message }) => finding.test(message))) undetected.push(statement)
        for (const { repair } of found) await second.asSuperuser(repair)
        await second.quartermaster('doctor')
      }
      return {
        value: `${damages.length - undetected.length} of ${damages.length} damages found, ${changed.length} rows differ`,
        ok: undetected.length + changed.length === 0,
        samples: damages.length,
        note: [...undetected, ...changed].join('\n'),
      }
    } finally {
      await nodes.stop()
    }
  },
}

interface Problem {
  readonly message: string
  readonly repair: string
}

class Cluster {
  readonly #nodes: PostgresNodes
  readonly #node: PostgresNode

  constructor(nodes: PostgresNodes, node: PostgresNode) {
    this.#nodes = nodes
    this.#node = node
  }

  /** The roles and the database of docs/operating/install.md. */
  async install(): Promise<void> {
    await this.#node.start()
    await this.#nodes.run('psql', ['-v', 'ON_ERROR_STOP=1', '-d', this.#node.url('postgres'), ...commands()])
  }

  get superuser(): string {
    return this.#node.url('quartermaster')
  }

  url(role: string): string {
    return `postgres://${role}@127.0.0.1:${this.#node.port}/quartermaster`
  }

  async asSuperuser(statement: string): Promise<void> {
    await withClient(this.superuser, (client) => client.query(statement))
  }

  /** A product, and a deleted one. */
  async fill(): Promise<void> {
    const file = `${this.#nodes.folder}/products.ndjson`
    await this.#nodes.run('sh', [
      '-c',
      `printf '{"id":1,"name":"Bolt"}\\n{"id":2,"name":"Nut"}\\n' >"$0"`,
      file,
    ])
    await this.quartermaster('import', 'product', '--account', 'acme', file)
  }

  async quartermaster(...args: readonly string[]): Promise<string> {
    const { stdout } = await runProgram(process.execPath, [program, ...args], { env: this.#environment })
    return stdout
  }

  /** Runs a block of the documents in the folder of the clusters. */
  async bash(block: string, environment: Readonly<Record<string, string>>): Promise<void> {
    const settings = { PATH: `${postgresBinaries()}:${process.env['PATH'] ?? ''}`, ...environment }
    const exports = Object.entries(settings).map(([name, value]) => `export ${name}='${value}'\n`)
    await this.#nodes.run('bash', ['-euc', `cd '${this.#nodes.folder}'\n${exports.join('')}${block}`])
  }

  /** The problems that doctor reports after a statement. */
  async damaged(statement: string): Promise<Problem[]> {
    await this.asSuperuser(statement)
    const output = await this.quartermaster('doctor', '--json').catch(
      (error: { stdout?: string }) => error.stdout,
    )
    const { findings }: { findings: (Problem & { status: string })[] } = JSON.parse(
      output ?? '{"findings":[]}',
    )
    return findings.filter(({ status }) => status === 'problem')
  }

  get #environment(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      DATABASE_URL: this.url('quartermaster'),
      DATABASE_OWNER_URL: this.url('quartermaster_owner'),
    }
  }
}

/** `create database` cannot be in one command with others: psql sends each `-c` on its own. */
const commands = () =>
  documented('database-roles')
    .split(';\n')
    .filter((statement) => statement.trim() !== '')
    .flatMap((statement) => ['-c', statement])
