import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { postgresBinaries } from '../src/cli/database/find-postgres.ts'
import { databaseUrl } from '../src/cli/database/temporary-postgres.ts'
import { importRecords } from '../src/import/import-records.ts'
import { limits } from '../src/limits/limits.ts'
import { withClient } from '../src/postgres/client.ts'
import { temporaryFolder } from './at-end.ts'
import { account, freshDatabase } from './database.ts'
import { eventually } from './eventually.ts'
import { startTestService } from './service.ts'

/**
 * A dump is restored under a running service. Then writes raise the versions to those that the service has cached, with
 * different content. The responses of the service are compared with SQL.
 */

const run = promisify(execFile)
const partners = '/api/v1/resources/partner'
const records = limits.smallAccountRecordsMax + 200
const folder = temporaryFolder('restore')
const dump = join(folder, 'dump')
const paths = [
  `${partners}?fields=id,name`,
  `${partners}?fields=id,name&limit=20&page=12`,
  `${partners}?fields=id,name&filter=is_customer=true`,
  `${partners}?fields=id,name&filter=is_customer=true&limit=20&page=8`,
  `${partners}/3?fields=id,name`,
]
/** Not requested before the restore: only the end of the previous page may be cached. */
const nextPages = [
  `${partners}?fields=id,name&limit=20&page=13`,
  `${partners}?fields=id,name&filter=is_customer=true&limit=20&page=9`,
]

const url = await freshDatabase()
const acme = await withClient(url, (client) => account(client, 'acme'))
await write('base', 1)
const service = await startTestService(url)

/** Which records are customers depends on `sort`, and so do totals and page ends. */
async function write(name: string, sort: number): Promise<void> {
  const all = Array.from({ length: records }, (_, at) => ({
    id: at + 1,
    name: `${name} ${at + 1}`,
    is_customer: (at * sort) % 3 !== 0 || at % 5 < sort,
  }))
  await importRecords({ ownerUrl: url, account: acme.name, resource: 'partner', records: all })
}

async function version(): Promise<string | undefined> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ version: string }>(
      `select version from tally where account_id = $1 and resource = 'partner'`,
      [acme.accountId],
    )
    return rows[0]?.version
  })
}

/** The expected body, computed from all rows. */
async function expectedAt(path: string): Promise<object> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ id: number; name: string; is_customer: boolean }>(
      'select id::int, name, is_customer from partner where account_id = $1 order by id',
      [acme.accountId],
    ),
  )
  const shown = rows.map(({ id, name }) => ({ id, name }))
  if (path.includes('/partner/3')) return { data: shown[2] }
  const found = shown.filter((_, at) => !path.includes('filter') || rows[at]?.is_customer === true)
  const parameters = new URLSearchParams(path.split('?')[1])
  const [limit, page] = [Number(parameters.get('limit') ?? 10), Number(parameters.get('page') ?? 1)]
  const data = found.slice((page - 1) * limit, page * limit)
  return { data, meta: { count: data.length, total: found.length } }
}

const restores: readonly [string, () => Promise<void>][] = [
  [
    'pg_restore --clean into the same database',
    async () => {
      await run(join(postgresBinaries(), 'pg_restore'), ['--clean', '--if-exists', '-d', url, dump])
    },
  ],
  [
    'the database dropped, created and restored',
    async () => {
      const name = new URL(url).pathname.slice(1)
      await withClient(databaseUrl(url, 'postgres'), async (client) => {
        await client.query(`drop database "${name}" with (force)`)
        await client.query(`create database "${name}"`)
      })
      await run(join(postgresBinaries(), 'pg_restore'), ['-d', url, dump])
    },
  ],
]

/**
 * The npm package of PostgreSQL 18 has only the server, and the pg_dump of an older version does not read from it.
 * Debian's packages always have both, so on PostgreSQL 15 this is never skipped.
 */
const hasNoDump = !existsSync(join(postgresBinaries(), 'pg_dump'))

it.skipIf(hasNoDump).each(restores)('%s leaves no stale list and no false 304', async (name, restore) => {
  await run(join(postgresBinaries(), 'pg_dump'), ['-Fc', '-f', dump, url])
  await write(`before ${name}`, 2)
  const versionBefore = await version()
  const etags = new Map<string, string>()
  for (const path of paths) {
    // The first request may use a connection that the previous restore has closed.
    await eventually(async () => {
      const response = await service.request(acme, 'GET', path)
      etags.set(path, response.headers.get('etag') ?? '')
      return response.status === 200
    })
  }
  await restore()
  await write(`after ${name}`, 4)
  expect(await version()).toBe(versionBefore)
  await eventually(async () => (await service.request(acme, 'GET', partners)).status === 200)
  for (const path of [...nextPages, ...paths]) {
    const etag = etags.get(path)
    const headers = etag === undefined ? {} : { 'if-none-match': etag }
    const conditional = await service.request(acme, 'GET', path, { headers })
    expect(conditional, path).toMatchObject({ status: 200, body: await expectedAt(path) })
    expect(conditional.headers.get('etag'), path).not.toBe(etag)
    const plain = await service.request(acme, 'GET', path)
    expect(plain, path).toMatchObject({ status: 200, body: await expectedAt(path) })
  }
})

it.each([
  [
    'a table that is not there yet',
    'alter table partner rename to renamed',
    'alter table renamed rename to partner',
  ],
  [
    'privileges that are not granted yet',
    'revoke select on partner from quartermaster_server',
    'grant select on partner to quartermaster_server',
  ],
])('during a restore, %s is 503', async (name, breakDatabase, back) => {
  // A list that is not cached yet.
  const path = `${partners}?fields=id&filter=${encodeURIComponent(`name*"${name}"`)}`
  await withClient(url, (client) => client.query(breakDatabase))
  const meanwhile = await service.request(acme, 'GET', path)
  await withClient(url, (client) => client.query(back))
  expect([meanwhile.status, meanwhile.body]).toMatchObject([503, { code: 'database_unavailable' }])
  await eventually(async () => (await service.request(acme, 'GET', path)).status === 200)
})
