import { expect, it } from 'vitest'
import { account, type TestAccount } from './database.ts'
import { unlessShed } from './eventually.ts'
import { freshService, type TestResponse } from './service.ts'

/** Creates of several accounts in one transaction. */

const partners = '/api/v1/resources/partner'

const { client, service } = await freshService()
await client.query('create extension if not exists pg_stat_statements')
const all: TestAccount[] = []
for (let n = 0; n < 12; n++) all.push(await account(client, `account-${n}`))

const create = (by: TestAccount, name: string, fields: object = {}) =>
  unlessShed(() => service.post(by, partners, { name, ...fields }))

const idOf = ({ status, body }: TestResponse): number => {
  expect([status, body]).toMatchObject([201, { data: {} }])
  const { data }: { data: { id: number } } = JSON.parse(JSON.stringify(body))
  return data.id
}

async function stored({ accountId }: TestAccount): Promise<string[]> {
  const { rows } = await client.query<{ row: string }>(
    `select concat_ws(' ', p.id, p.name, p.email, p.version, p.created_version) as row from partner p
     where account_id = $1 order by id`,
    [accountId],
  )
  return rows.map(({ row }) => row)
}

async function tallyOf({ accountId }: TestAccount) {
  const { rows } = await client.query(
    `select version::int, total::int, last_id::int from tally where account_id = $1 and resource = 'partner'`,
    [accountId],
  )
  return rows[0]
}

it('each account gets consecutive ids and versions, and its own records', async () => {
  const ids = await Promise.all(
    Array.from({ length: 120 }, async (_, n) => {
      const by = all[n % all.length]
      if (by === undefined) throw new Error('no account')
      return idOf(
        await create(by, `${by.name} "${n}", {x}`, n % 3 === 0 ? { email: `${n}@example.com` } : {}),
      )
    }),
  )
  expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 120 }, (_, i) => 1 + Math.floor(i / 12)))
  for (const one of all) {
    expect(await tallyOf(one)).toEqual({ version: 10, total: 10, last_id: 10 })
    const rows = await stored(one)
    for (const [i, row] of rows.entries()) {
      expect(row).toMatch(
        new RegExp(`^${i + 1} ${one.name} "\\d+", \\{x\\} (?:\\d+@example\\.com )?${i + 1} ${i + 1}$`),
      )
    }
  }
  // Far fewer transactions than creates, otherwise nothing was batched.
  const { rows } = await client.query<{ calls: number }>(
    `select sum(calls)::int as calls from pg_stat_statements s join pg_database d on d.oid = s.dbid
     where d.datname = current_database() and query like '%skip locked%'`,
  )
  expect(rows[0]?.calls).toBeGreaterThan(0)
})

it('an account that is being written does not delay the others', async () => {
  const [locked, ...others] = all
  if (locked === undefined) throw new Error('no account')
  await client.query('begin')
  await client.query(`select from tally where account_id = $1 and resource = 'partner' for update`, [
    locked.accountId,
  ])
  const waiting = create(locked, 'waits')
  const responses = await Promise.all(others.map((other) => create(other, 'does not wait')))
  for (const response of responses) expect(idOf(response)).toBe(11)
  await client.query('commit')
  expect(idOf(await waiting)).toBe(11)
})

it('a record that PostgreSQL rejects does not affect the others of its batch', async () => {
  await client.query(`alter table partner add constraint never_bad check (name <> 'bad')`)
  try {
    const responses = await Promise.all(
      all.map((one, n) => create(one, n === 5 ? 'bad' : 'good', { phone: `${n}` })),
    )
    expect(responses.map(({ status }) => status)).toEqual(all.map((_, n) => (n === 5 ? 500 : 201)))
    for (const [n, one] of all.entries())
      expect(await tallyOf(one)).toEqual({
        version: n === 5 ? 11 : 12,
        total: n === 5 ? 11 : 12,
        last_id: n === 5 ? 11 : 12,
      })
  } finally {
    await client.query('alter table partner drop constraint never_bad')
  }
})
