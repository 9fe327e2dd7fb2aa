import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { cloneDatabase, databaseUrl, startTemporaryPostgres } from '../src/cli/database/temporary-postgres.ts'
import { expectedIndexes } from '../src/cli/doctor/checks/expected-indexes.ts'
import { stopAtEnd } from './at-end.ts'
import { type Environment, quartermaster } from './command.ts'

let databases = 0

const postgres = stopAtEnd(await startTemporaryPostgres({ fsync: 'off' }))
const template = await cloneDatabase(postgres.url, 'migrated', 'template0')
for (const args of [['migrate'], ['account', 'create', 'acme']]) {
  const { code, stderr } = await quartermaster(args, { DATABASE_URL: template })
  if (code !== 0) throw new Error(stderr)
}

/** A migrated database with the empty account acme, after running these statements. */
async function databaseAfter(...statements: string[]): Promise<string> {
  databases += 1
  const url = await cloneDatabase(postgres.url, `doctor_${databases}`, 'migrated')
  for (const statement of statements) await sql(url, statement)
  return url
}

async function sql<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

/** The faults that doctor reports: pairs of message and repair. */
async function faults(settings: Environment, ...args: string[]) {
  const { code, stdout } = await quartermaster(['doctor', '--json', ...args], settings)
  const { ok, findings } = JSON.parse(stdout)
  const wrong = findings.filter((finding: { status: string }) => finding.status === 'problem')
  expect([code, ok]).toEqual(wrong.length === 0 ? [0, true] : [1, false])
  return wrong.map(({ message, repair }: { message: string; repair: string }) => [message, repair])
}

/** Doctor reports these faults; running the printed repairs unchanged leaves none. */
async function foundAndRepaired(url: string, expected: [message: string, repair: string][]): Promise<void> {
  expect(await faults({ DATABASE_URL: url })).toEqual(expected)
  for (const [, repair] of expected) {
    for (const statement of repair.split(/(?<=;) /)) await sql(url, statement)
  }
  expect(await faults({ DATABASE_URL: url })).toEqual([])
}

const missingText = (table: string, ...columns: string[]): [string, string] => [
  `There is no text index on ${table} (account_id, ${columns.join(', ')}).`,
  `create index concurrently ${table}_text on ${table} using gin (account_id, ` +
    `${columns.map((column) => `${column} collate "default" gin_trgm_ops`).join(', ')}) with (fastupdate = on, gin_pending_list_limit = 1024);`,
]

const missingWords = (resource: string): [string, string] => [
  `There is no text index on ${resource}_value (account_id, field, text).`,
  `create index concurrently ${resource}_value_words on ${resource}_value using gin (account_id, field, ` +
    'text collate "default" gin_trgm_ops) with (fastupdate = on, gin_pending_list_limit = 1024) where text is not null;',
]

const company = (id: number, version: number) =>
  `insert into company (account_id, id, version, name, branch_user, create_date, write_date)
   values (1, ${id}, ${version}, 'Quayside', '001', now(), now())`
const tallies = (url: string) =>
  sql(
    url,
    `select resource, version::int, total::int, last_id::int from tally where account_id = 1 order by resource`,
  )

describe('doctor', () => {
  test('finds nothing wrong with a migrated database', async () => {
    const url = await databaseAfter()
    const { code, stdout, stderr } = await quartermaster(['doctor'], { DATABASE_URL: url })
    expect([code, stderr]).toEqual([0, 'No problems found.\n'])
    expect(stdout).toContain(`✓ All ${expectedIndexes.length} indexes exist and are valid.\n`)
    expect(stdout).toContain('✓ The tallies of 1 account are correct.\n')
    expect(stdout).not.toContain('✗')
  })

  test('expects every index that the migrations create', async () => {
    const created = await sql<{ indexname: string }>(
      databaseUrl(postgres.url, 'migrated'),
      `select indexname::text from pg_indexes where schemaname = 'public' and tablename <> 'migration'`,
    )
    expect(expectedIndexes.map(({ name }) => name).toSorted()).toEqual(
      created.map(({ indexname }) => indexname).toSorted(),
    )
  })

  test('shows a fault and how to repair it', async () => {
    const { code, stdout, stderr } = await quartermaster(['doctor'], {
      DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c',
    })
    expect([code, stdout, stderr]).toEqual([
      1,
      '✓ The configuration is valid.\n' +
        '✗ No PostgreSQL listens at 127.0.0.1:1.\n' +
        '    repair: Start PostgreSQL there, or correct DATABASE_URL.\n' +
        '– The remaining checks were not run.\n',
      '1 problem found.\n',
    ])
  })

  test('finds faults of the configuration', async () => {
    expect(await faults({})).toEqual([
      [
        'DATABASE_URL is not set.',
        'export DATABASE_URL=postgres://quartermaster:PASSWORD@localhost:5432/quartermaster',
      ],
    ])
    expect(await faults({ DATABASE_URL: 'mysql://x', QUARTERMASTER_LOG_LEVEL: 'loud' })).toEqual([
      ['DATABASE_URL does not begin with postgres://.', expect.stringContaining('Set DATABASE_URL')],
      [
        expect.stringMatching(/^QUARTERMASTER_LOG_LEVEL must be .*fatal, error, warn/),
        expect.stringContaining('Set QUARTERMASTER_LOG_LEVEL'),
      ],
    ])
    const url = await databaseAfter()
    expect(await faults({ DATABASE_URL: url, QUARTERMASTER_TRUSTED_PROXIES: '10.0.0.0/8, proxy' })).toEqual([
      [
        'QUARTERMASTER_TRUSTED_PROXIES has "proxy", which is not an IP address or network.',
        expect.stringContaining('10.0.0.0/8'),
      ],
    ])
    expect(await faults({ DATABASE_URL: url, QUARTERMASTER_DEFAULT_ACCOUNT: 'zeta' })).toEqual([
      [
        'QUARTERMASTER_DEFAULT_ACCOUNT is zeta, but there is no such account.',
        'quartermaster account create zeta',
      ],
    ])
    expect(await faults({ DATABASE_URL: url, QUARTERMASTER_DATABASE_POOL_MAX: '60' })).toEqual([
      [
        'One serving process can open 130 connections; PostgreSQL allows 97.',
        'Set QUARTERMASTER_DATABASE_POOL_MAX to 43 or less, or raise max_connections.',
      ],
    ])
  })

  test('finds an unknown host and an unknown database', async () => {
    expect(await faults({ DATABASE_URL: 'postgres://a@db.invalid/c' })).toEqual([
      [
        'The host name of db.invalid:5432 cannot be resolved.',
        expect.stringContaining('correct DATABASE_URL'),
      ],
    ])
    const { host } = new URL(postgres.url)
    expect(await faults({ DATABASE_URL: databaseUrl(postgres.url, 'nowhere') })).toEqual([
      [
        `There is no database nowhere at ${host}.`,
        `create database "nowhere" template template0 encoding 'UTF8' locale_provider libc locale 'C.UTF-8';`,
      ],
    ])
  })

  test('finds a wrong password, and never shows it', async () => {
    await sql(postgres.url, `create role locked login password 'right'`)
    const file = join(postgres.folder, 'data', 'pg_hba.conf')
    const before = readFileSync(file, 'utf8')
    writeFileSync(file, 'host all locked 127.0.0.1/32 scram-sha-256\n')
    appendFileSync(file, before)
    await sql(postgres.url, 'select pg_reload_conf()')
    const { host } = new URL(postgres.url)
    const withUser = (user: string) => `postgres://${user}@${host}/migrated`
    await expect
      .poll(() => faults({ DATABASE_URL: withUser('locked:hunter2') }), { timeout: 120_000 })
      .toEqual([
        [
          `PostgreSQL at ${host} rejected the password of locked.`,
          `Set DATABASE_URL to postgres://locked:PASSWORD@${host}/migrated with the right password.`,
        ],
      ])
    const { stdout, stderr } = await quartermaster(['doctor'], { DATABASE_URL: withUser('locked:hunter2') })
    expect(stdout + stderr).not.toContain('hunter2')
    expect(await faults({ DATABASE_URL: withUser('locked') })).toEqual([
      [
        `PostgreSQL at ${host} requires a password, but DATABASE_URL has none.`,
        `Set DATABASE_URL to postgres://locked:PASSWORD@${host}/migrated.`,
      ],
    ])
  })

  test('finds a database that does not fold case', async () => {
    await sql(postgres.url, `create database plain_c template template0 encoding 'UTF8' locale 'C'`)
    const found = await faults({ DATABASE_URL: databaseUrl(postgres.url, 'plain_c') })
    expect(found[0]).toEqual([
      'The database plain_c does not fold the case of É, Σ, Ж as "contains" needs it (UTF8, C): filters would miss records.',
      expect.stringContaining(
        `create database plain_c_utf8 template template0 encoding 'UTF8' locale_provider libc locale 'C.UTF-8';`,
      ),
    ])
    await sql(postgres.url, `create database latin template template0 encoding 'LATIN1' locale 'C'`)
    const latin = await faults({ DATABASE_URL: databaseUrl(postgres.url, 'latin') })
    expect(latin[0]?.[0]).toContain('(LATIN1, C)')
  })

  test('finds pending migrations, and a database newer than the build', async () => {
    const empty = await cloneDatabase(postgres.url, 'empty', 'template0')
    expect(await faults({ DATABASE_URL: empty })).toEqual([
      [expect.stringMatching(/^Not applied yet: 0001_accounts, 0002_records/), 'quartermaster migrate'],
    ])
    const newer = await databaseAfter(`insert into migration (name, run_on) values ('9999_future', now())`)
    expect(await faults({ DATABASE_URL: newer })).toEqual([
      [
        'The database is newer than this build: it has 9999_future.',
        'Run the build that has these migrations, or a later one.',
      ],
    ])
  })

  test('finds a dropped extension and the indexes that were dropped with it', async () => {
    const trigrams = await databaseAfter('drop extension pg_trgm cascade')
    await foundAndRepaired(trigrams, [
      ['The extension pg_trgm is missing.', 'create extension pg_trgm;'],
      missingText('product', 'name', 'default_code'),
      missingWords('product'),
      missingText('partner', 'name', 'email', 'phone'),
      missingWords('partner'),
      missingText('company', 'name', 'company_code', 'branch_user'),
      missingWords('company'),
    ])
    const found = await faults({ DATABASE_URL: await databaseAfter('drop extension btree_gin cascade') })
    expect(found[0]).toEqual(['The extension btree_gin is missing.', 'create extension btree_gin;'])
  })

  test('finds missing, invalid and different indexes', async () => {
    const url = await databaseAfter(
      'drop index product_list_price',
      `update pg_index set indisvalid = false where indexrelid = 'partner_email'::regclass`,
      'drop index company_name; create index company_name on company (account_id, name)',
      'alter table api_key drop constraint api_key_account_id_hash_key',
      'drop index partner_text; create index partner_text on partner using gin (account_id, name gin_trgm_ops)',
    )
    await foundAndRepaired(url, [
      [
        'There is no index on api_key (account_id, hash).',
        'alter table api_key add constraint api_key_account_id_hash_key unique (account_id, hash);',
      ],
      [
        'There is no index on product (account_id, list_price, id).',
        'create index concurrently product_list_price on product (account_id, list_price, id);',
      ],
      [
        'The index partner_email on partner is invalid: its creation was interrupted, and no query uses it.',
        'reindex index concurrently partner_email;',
      ],
      [
        'There is no text index on partner (account_id, name, email, phone): partner_text has another definition.',
        'drop index concurrently partner_text; create index concurrently partner_text on partner using gin ' +
          '(account_id, name collate "default" gin_trgm_ops, email collate "default" gin_trgm_ops, ' +
          'phone collate "default" gin_trgm_ops) with (fastupdate = on, gin_pending_list_limit = 1024);',
      ],
      [
        'There is no index on company (account_id, name, id): company_name has another definition.',
        'drop index concurrently company_name; create index concurrently company_name on company (account_id, name, id);',
      ],
    ])
  })

  test('finds missing and excess privileges of the roles for reads and writes', async () => {
    const tallyColumns =
      'version, total, last_id, lineages, lineage_starts, writer_epoch, writer_xid, changes_from, images_from, own_last_id, written_at, schema'
    const url = await databaseAfter(
      'revoke select on partner from quartermaster_server',
      'revoke update (total) on tally from quartermaster_writer',
      'grant delete on product to quartermaster_server',
      'grant select on idempotency to quartermaster_server',
      'grant update (version, total) on tally to quartermaster_server',
      'grant update (hash) on api_key to quartermaster_writer',
      'revoke usage on schema public from quartermaster_server, public',
    )
    await foundAndRepaired(url, [
      [
        'quartermaster_server lacks the privilege select on partner.',
        'grant select on partner to "quartermaster_server";',
      ],
      [
        'quartermaster_server lacks the privilege usage on schema public.',
        'grant usage on schema public to "quartermaster_server";',
      ],
      [
        'quartermaster_server has the privilege delete on product, which no request needs.',
        'revoke delete on product from "quartermaster_server", public;',
      ],
      [
        'quartermaster_server has the privilege select on idempotency, which no request needs.',
        'revoke select on idempotency from "quartermaster_server", public;',
      ],
      [
        'quartermaster_server has the privilege update (version, total) on tally, which no request needs.',
        'revoke update (version, total) on tally from "quartermaster_server", public;',
      ],
      [
        `quartermaster_writer lacks the privilege update (${tallyColumns}) on tally.`,
        `grant update (${tallyColumns}) on tally to "quartermaster_writer";`,
      ],
      [
        'quartermaster_writer has the privilege update (hash) on api_key, which no request needs.',
        'revoke update (hash) on api_key from "quartermaster_writer", public;',
      ],
    ])
  })

  test('finds tables and a database that do not belong to the role of the commands', async () => {
    const url = await databaseAfter(
      'create role restorer login; grant quartermaster_server, quartermaster_writer to restorer',
      `do $$ declare t text; begin for t in select tablename from pg_tables where schemaname = 'public' and tablename <> 'partner' loop
         execute format('alter table %I owner to restorer', t); end loop; end $$`,
    )
    const name = new URL(url).pathname.slice(1)
    const owner = url.replace('postgres@', 'restorer@')
    expect(owner).not.toBe(url)
    const found = await faults({ DATABASE_OWNER_URL: owner, DATABASE_URL: url })
    expect(found).toEqual([
      [
        'The table partner belongs to postgres, not to restorer: the next migration that changes it would fail.',
        'alter table partner owner to "restorer";',
      ],
      [
        `restorer does not own the database ${name}: migrations could not create tables or extensions in it.`,
        `alter database "${name}" owner to "restorer";`,
      ],
    ])
    for (const [, repair] of found) await sql(url, repair)
    expect(await faults({ DATABASE_OWNER_URL: owner, DATABASE_URL: url })).toEqual([])
  })

  test('finds before the first migration that the owner cannot create tables', async () => {
    const url = await cloneDatabase(postgres.url, 'no_create', 'template0')
    await sql(url, 'create role builder login; alter database no_create owner to builder')
    await sql(url, 'revoke create on schema public from pg_database_owner')
    const found = await faults({
      DATABASE_OWNER_URL: url.replace('postgres@', 'builder@'),
      DATABASE_URL: url,
    })
    expect(found).toContainEqual([
      'builder cannot create tables in the schema public: the next migration would fail.',
      'grant create on schema "public" to "builder";',
    ])
  })

  test('finds a role for writes that may not create temporary tables', async () => {
    const url = await databaseAfter()
    const name = new URL(url).pathname.slice(1)
    await sql(url, `revoke temporary on database ${name} from public`)
    await foundAndRepaired(url, [
      [
        `quartermaster_writer lacks the privilege temporary on database ${name}.`,
        `grant temporary on database ${name} to "quartermaster_writer";`,
      ],
    ])
  })

  test('finds a serving login that is superuser or owner, or may not use the serving role', async () => {
    const url = await databaseAfter('create role owner_login login', 'create role other_login login')
    await sql(
      url,
      'alter table partner owner to owner_login; grant quartermaster_server, quartermaster_writer to owner_login',
    )
    await sql(url, 'grant select on partner to quartermaster_server')
    await sql(url, 'grant select, insert, update, delete on partner to quartermaster_writer')
    await sql(url, 'create role half_login login; grant quartermaster_server to half_login')
    const as = (user: string) => url.replace('postgres@', `${user}@`)
    const served = (settings: Environment) => faults({ DATABASE_OWNER_URL: url, ...settings })
    expect(await served({ DATABASE_URL: as('postgres'), QUARTERMASTER_DATABASE_ROLE: '' })).toEqual([
      [
        'Requests are served as postgres, a superuser: it has far more privileges than they need.',
        'export QUARTERMASTER_DATABASE_ROLE=quartermaster_server',
      ],
    ])
    expect(await served({ DATABASE_URL: as('owner_login'), QUARTERMASTER_DATABASE_ROLE: '' })).toEqual([
      [
        'Requests are served as owner_login, the owner of the tables: it has far more privileges than they need.',
        'export QUARTERMASTER_DATABASE_ROLE=quartermaster_server',
      ],
    ])
    expect(await served({ DATABASE_URL: as('owner_login') })).toEqual([])
    expect(await served({ DATABASE_URL: as('half_login') })).toEqual([
      [
        'half_login cannot set the role quartermaster_writer: permission denied to set role "quartermaster_writer".',
        'grant "quartermaster_writer" to "half_login";',
      ],
    ])
    expect(await served({ DATABASE_URL: as('other_login') })).toEqual([
      [
        'other_login cannot set the role quartermaster_server: permission denied to set role "quartermaster_server".',
        'grant "quartermaster_server" to "other_login";',
      ],
    ])
    expect(await served({ DATABASE_URL: as('other_login'), QUARTERMASTER_DATABASE_ROLE: '' })).toEqual([
      [
        expect.stringMatching(
          /^other_login lacks \d+ privileges that requests need, such as select on account\.$/,
        ),
        'grant quartermaster_writer to "other_login";',
      ],
    ])
    expect(await served({ DATABASE_URL: url, QUARTERMASTER_DATABASE_ROLE: 'absent' })).toEqual([
      ['There is no role absent.', expect.stringContaining('create role absent nologin;')],
    ])
  })
})

describe('doctor on tallies', () => {
  test('finds a wrong or missing tally, and repairs it', async () => {
    const url = await databaseAfter(
      company(4, 9),
      company(7, 2),
      `delete from tally where resource = 'product'`,
    )
    await sql(url, `update tally set total = 3, last_id = 12, version = 5 where resource = 'partner'`)
    const repair = 'quartermaster doctor --repair --account acme'
    const expected = [
      ['The product tally of acme is wrong: the row is missing.', repair],
      ['The partner tally of acme is wrong: total is 3, but there are 0 records.', repair],
      [
        'The company tally of acme is wrong: total is 0, but there are 2 records; last_id is 0, but the highest id is 7; ' +
          'version is 0, but a record has 9.',
        repair,
      ],
    ]
    expect(await faults({ DATABASE_URL: url })).toEqual(expected)
    expect(await faults({ DATABASE_URL: url }, '--account', 'acme')).toEqual(expected)
    expect(await faults({ DATABASE_URL: url }, '--all-tallies')).toEqual(expected)
    const repaired = await quartermaster(['doctor', '--repair', '--account', 'acme'], { DATABASE_URL: url })
    expect(repaired.code).toBe(0)
    expect(repaired.stdout).toContain('✓ repaired: The product tally of acme is wrong: the row is missing.\n')
    expect(await tallies(url)).toEqual([
      { resource: 'company', version: 10, total: 2, last_id: 7 },
      { resource: 'partner', version: 6, total: 0, last_id: 12 },
      { resource: 'product', version: 1, total: 0, last_id: 0 },
    ])
    expect(await faults({ DATABASE_URL: url }, '--all-tallies')).toEqual([])
  })

  test('finds a counter that would assign ids again, and repairs it', async () => {
    const external = (lastId: number, ownLastId: number, resource: string) =>
      `update tally set total = (select count(*) from company where '${resource}' = 'company'), version = 9,
         last_id = ${lastId}, own_last_id = ${ownLastId} where resource = '${resource}'`
    const url = await databaseAfter(
      company(7, 1),
      company(4_294_967_300, 2),
      external(4_294_967_300, 4_294_967_298, 'company'),
      // The record of the last id was deleted.
      external(4_294_967_310, 4_294_967_309, 'product'),
      external(12, 4_294_967_295, 'partner'),
    )
    const repair = 'quartermaster doctor --repair --account acme'
    expect(await faults({ DATABASE_URL: url })).toEqual([
      [
        'The product tally of acme is wrong: own_last_id is 4294967309, but 4294967310 was assigned here, so ids would be assigned again.',
        repair,
      ],
      [
        'The company tally of acme is wrong: own_last_id is 4294967298, but 4294967300 was assigned here, so ids would be assigned again.',
        repair,
      ],
    ])
    await quartermaster(['doctor', '--repair', '--account', 'acme'], { DATABASE_URL: url })
    expect(await faults({ DATABASE_URL: url }, '--all-tallies')).toEqual([])
    expect(
      await sql(url, 'select own_last_id::text from tally where account_id = 1 order by resource'),
    ).toEqual([{ own_last_id: '4294967300' }, { own_last_id: '4294967295' }, { own_last_id: '4294967310' }])
  })

  test('finds values of unique fields that are missing or left over, and repairs them', async () => {
    const url = await databaseAfter(
      ...[1, 2, 3].map((id) => company(id, id)),
      `update company set company_code = 'C' || id where account_id = 1`,
      `update tally set version = 3, total = 3, last_id = 3 where account_id = 1 and resource = 'company'`,
      `insert into field (account_id, resource, number, name, type, label, unique_state)
       values (1, 'company', 1, 'company_code', 'text', 'Code', 'ready')`,
      `insert into company_key (account_id, field, value, id) values (1, 1, 'C1', 1), (1, 1, 'C2', 3), (1, 1, 'C9', 3)`,
    )
    const fault =
      'The table of the unique field company.company_code of acme lacks 2 values, and has 2 that no record has.'
    expect(await faults({ DATABASE_URL: url })).toEqual([
      [fault, 'quartermaster doctor --repair --account acme'],
    ])
    await quartermaster(['doctor', '--repair', '--account', 'acme'], { DATABASE_URL: url })
    expect(await sql(url, `select value, id::int from company_key order by value`)).toEqual(
      [1, 2, 3].map((id) => ({ value: `C${id}`, id })),
    )
    expect(await faults({ DATABASE_URL: url })).toEqual([])
  })

  test('does not change correct tallies when repairing', async () => {
    const url = await databaseAfter()
    await quartermaster(['doctor', '--repair', '--all-tallies'], { DATABASE_URL: url })
    expect((await tallies(url)).map(({ version }) => version)).toEqual([0, 0, 0])
  })

  test('reports which accounts it did not count', async () => {
    const url = await databaseAfter(
      `insert into account (name) select 'bulk-' || n from generate_series(1, 100) n`,
      `insert into tally (account_id, resource) select account_id, unnest(array['product', 'partner', 'company'])
         from account where name like 'bulk-%'`,
      `update tally set total = 1000001 where account_id = 1 and resource = 'product'`,
    )
    const { code, stdout } = await quartermaster(['doctor'], { DATABASE_URL: url })
    expect(code).toBe(0)
    expect(stdout).toContain('✓ The tallies of 100 accounts are correct.\n')
    expect(stdout).toContain(
      '– Not checked: the tallies of the largest of 101 accounts. ' +
        'Pass --account NAME to check one account, or --all-tallies.\n',
    )
    const all = await faults({ DATABASE_URL: url }, '--all-tallies')
    expect(all.map(([message]: string[]) => message)).toEqual([
      'The product tally of acme is wrong: total is 1000001, but there are 0 records.',
    ])
  })

  test('reports an unknown account', async () => {
    const { code, stderr } = await quartermaster(['doctor', '--account', 'zeta'], {
      DATABASE_URL: await databaseAfter(),
    })
    expect([code, stderr]).toEqual([3, expect.stringContaining('There is no account named zeta.')])
  })
})
