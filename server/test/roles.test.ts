import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account, connected, freshDatabase } from './database.ts'

/** The serving role can do what requests need, and nothing else. */

let client: pg.Client
let url: string

beforeAll(async () => {
  url = await freshDatabase()
  client = await connected(url)
  await account(client, 'acme')
  await client.query('set role quartermaster_server')
})

afterAll(() => client.end())

it.each([
  `insert into account (name) values ('evil')`,
  `update account set status = 'suspended'`,
  `delete from account`,
  `update api_key set hash = sha256('x')`,
  `update api_key set scopes = '{account:manage}'`,
  `update api_key set account_id = 2`,
  `update audit set details = 'x'`,
  `update audit set actor_id = 'x', at = now()`,
  `delete from audit`,
  `truncate audit`,
  `alter table audit disable row level security`,
  `drop table audit`,
  `insert into tally (account_id, resource) values (1, 'product')`,
  `update tally set account_id = 2`,
  `delete from tally`,
  `insert into product (account_id, id, version) values (1, 1, 1)`,
  `update product set name = 'x'`,
  `delete from product`,
  `update partner set name = 'x'`,
  `delete from partner`,
  `update company set name = 'x'`,
  `insert into tombstone (account_id, resource, version, id) values (1, 'product', 1, 1)`,
  `delete from product_before`,
  `update tally set changes_from = 0`,
  `truncate partner`,
  `drop table partner`,
  `create table t ()`,
  `create temp table t as select 1; select pg_read_file('/etc/passwd')`,
])('may not %s', async (text) => {
  await expect(client.query(text)).rejects.toThrow(/permission denied|must be owner/)
})

it.each([
  `select * from account, api_key, tally, product, partner, company, idempotency, migration limit 1`,
  `select * from audit`,
  `insert into audit (account_id, id, action, subject, actor, actor_id) values (1, 'x', 'key.create', 'x', 'key', 'x')`,
  `insert into api_key (account_id, key_id, hash, name, scopes) values (1, 'x', sha256('x'), 'x', '{}')`,
  `update api_key set revoked_at = now(), expires_at = now(), rotated_to = 'y', last_used_on = now() where account_id = 1`,
  `delete from api_key where account_id = 1 and key_id = 'x'`,
  `update tally set version = version + 1, total = total + 1, last_id = last_id + 1 where account_id = 1`,
])('may %s', async (text) => {
  await client.query(text)
})

describe('the role of writes', () => {
  let writer: pg.Client
  beforeAll(async () => {
    writer = await connected(url)
    await writer.query('set role quartermaster_writer')
  })
  afterAll(() => writer.end())

  it.each([
    `insert into account (name) values ('evil')`,
    `update account set status = 'suspended'`,
    `update api_key set scopes = '{account:manage}'`,
    `update audit set details = 'x'`,
    `delete from audit`,
    `update tally set account_id = 2`,
    `delete from tally`,
    `truncate product`,
    `drop table product_before`,
    `update tombstone set version = 0`,
    `create table t ()`,
  ])('may not %s', async (text) => {
    await expect(writer.query(text)).rejects.toThrow(/permission denied|must be owner/)
  })

  it.each([
    `select * from account, api_key, tally, product, partner, company, idempotency, audit, migration, tombstone, company_before limit 1`,
    `update product set name = 'x' where account_id = 1`,
    `delete from company where account_id = 1`,
    `insert into tombstone (account_id, resource, version, id) values (1, 'product', 1, 1)`,
    `insert into audit (account_id, id, action, subject, actor, actor_id) values (1, 'y', 'key.create', 'x', 'key', 'x')`,
    `update tally set changes_from = 0, lineages = '{1}' where account_id = 1`,
  ])('may %s', async (text) => {
    await writer.query(text)
  })
})
