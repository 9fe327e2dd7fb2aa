import type pg from 'pg'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import { cloneDatabase } from '../src/cli/database/temporary-postgres.ts'
import { type MigrateOptions, migrate, migrationNames } from '../src/postgres/migrations/migrate.ts'
import { connected } from './database.ts'
import { eventually, waitingForLocks } from './eventually.ts'
import { startTestService } from './service.ts'

/** Migrations while requests are served: lock waits are short, and reported. */

const altersUsage = '0007_usage_batches'
const before = migrationNames.indexOf(altersUsage)
let url: string
let created = 0
/** Locks the table that the next migration alters, as a long read does. */
let holder: pg.Client
let client: pg.Client

const template = `migrate_template_${process.pid}_${Date.now()}`
const templateUrl = await cloneDatabase(inject('postgresUrl'), template, 'template0')
expect(await migrate(templateUrl, { count: before })).toEqual(migrationNames.slice(0, before))

beforeEach(async () => {
  url = await cloneDatabase(inject('postgresUrl'), `${template}_${++created}`, template)
  holder = await connected(url)
  client = await connected(url)
})

async function holdUsage(): Promise<number> {
  await holder.query(`set application_name = 'long report'`)
  await holder.query('begin; select from usage')
  const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid ?? 0
}

const applied = async () =>
  (await client.query<{ name: string }>('select name from migration order by id')).rows.map(
    ({ name }) => name,
  )

function migrating(options: MigrateOptions): { readonly lines: string[]; readonly end: Promise<string[]> } {
  const lines: string[] = []
  const end = migrate(url, { log: (line) => lines.push(line), lockMs: 1000, retryMsMin: 50, ...options })
  // Awaited later; avoids an unhandled rejection until then.
  end.catch(() => {})
  return { lines, end }
}

describe('a migration that waits for a lock', () => {
  it('times out, lets other requests pass, reports who holds the lock, and acquires it on a retry', async () => {
    const pid = await holdUsage()
    const { lines, end } = migrating({ tries: 1000 })
    await eventually(async () => (await waitingForLocks(client)).length === 1)
    // Queued behind the migration's request for an exclusive lock: it must be let through.
    await client.query('select count(*) from usage')
    await eventually(() => lines.filter((line) => line.startsWith('Timed out')).length >= 2)
    expect(lines.find((line) => line.startsWith('Waiting'))).toMatch(
      new RegExp(
        `^Waiting for AccessExclusiveLock on usage, which process ${pid} holds \\(long report, user \\w+, idle in transaction, in a transaction for \\d+ s\\)\\.$`,
      ),
    )
    expect(lines.find((line) => line.startsWith('Timed out'))).toMatch(
      /^Timed out after 1 s, so that requests do not queue behind the migration\. Next try in 0\.\d s \(2 of 1000\)\.$/,
    )
    expect(lines.filter((line) => line.startsWith('Waiting'))).toHaveLength(1)
    await holder.query('commit')
    expect(await end).toEqual(migrationNames.slice(before))
    expect(await applied()).toEqual(migrationNames)
  })

  it('fails after the last retry, says what to do, and has changed nothing', async () => {
    const pid = await holdUsage()
    const { lines, end } = migrating({ tries: 2 })
    await expect(end).rejects.toThrow(
      new RegExp(
        `^${altersUsage} was not applied: 2 times it waited 1 s for AccessExclusiveLock on usage, which process ${pid} holds ` +
          '\\(long report, .*\\)\\. This migration changed nothing, .* then run quartermaster migrate again\\.$',
      ),
    )
    expect(lines.filter((line) => line.startsWith('Timed out'))).toHaveLength(1)
    expect(await applied()).toEqual(migrationNames.slice(0, before))
    await holder.query('commit')
    expect(await migrating({}).end).toEqual(migrationNames.slice(before))
  })

  it('waits for another process that migrates, and then has nothing to do', async () => {
    await holdUsage()
    const [first, second] = [migrating({ tries: 1000 }), migrating({ tries: 1000 })]
    await eventually(() =>
      [...first.lines, ...second.lines].some((line) => line.startsWith('Another process is migrating')),
    )
    await holder.query('commit')
    const all = await Promise.all([first.end, second.end])
    expect(all.flat().toSorted()).toEqual(expect.arrayContaining(migrationNames.slice(before)))
    expect(await applied()).toEqual(migrationNames)
  })
})

describe('readiness', () => {
  it('is 503 on the schema of the previous version, and says what to do', async () => {
    const service = await startTestService(url)
    const ready = async () => {
      const response = await fetch(`http://127.0.0.1:${service.port}/readyz`)
      return [response.status, await response.json()]
    }
    expect(await ready()).toMatchObject([
      503,
      {
        code: 'database_unavailable',
        detail: `The database schema is not up to date: run quartermaster migrate. Pending: ${migrationNames.slice(before).join(', ')}.`,
      },
    ])
    await migrate(url)
    await eventually(async () => (await ready())[0] === 200)
    // After the migration of a later version, this version continues to serve until it is replaced.
    await client.query(`insert into migration (name, run_on) values ('9999_later', now())`)
    const later = await startTestService(url)
    expect((await fetch(`http://127.0.0.1:${later.port}/readyz`)).status).toBe(200)
    await Promise.all([service.close(), later.close()])
  })

  it('is reached if an earlier run failed before it granted the serving role its privileges', async () => {
    await migrate(url)
    await client.query('revoke select on migration from quartermaster_server')
    await migrate(url)
    const { rows } = await client.query(
      `select has_table_privilege('quartermaster_server', 'migration', 'select') as sees`,
    )
    expect(rows).toEqual([{ sees: true }])
  })
})
