import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { documented } from '../../architecture/documented.ts'
import { scopes } from '../src/accounts/key-format.ts'
import { resources } from '../src/catalog/resources.ts'
import { operator } from '../src/cli/operator.ts'
import { eraseRecord } from '../src/erasure/erase-record.ts'
import { places } from '../src/erasure/places.ts'
import { inTransaction } from '../src/postgres/transaction.ts'
import { bin, environmentWith, quartermaster } from './command.ts'
import { account, type TestAccount } from './database.ts'
import { eventually } from './eventually.ts'
import { freshService } from './service.ts'

/** An erased person leaves no value in any table, and receivers learn of it. */

const partners = '/api/v1/resources/partner'
const fast = { erasureSweepMs: 50, erasureSettleMs: 500, journalSweepMs: 100 }
const { url, client, service } = await freshService({}, fast)
const acme = await account(client, 'acme')
const other = await account(client, 'other')
const exec = promisify(execFile)
const json = { 'content-type': 'application/json' }

const send = (by: TestAccount, method: string, path: string, body?: object, headers = {}) =>
  service.request(by, method, path, {
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { ...(body === undefined ? {} : json), ...headers },
  })
const dataOf = ({ body }: { body: unknown }) => JSON.parse(JSON.stringify(body)).data

/** Where the text is, in rows as PostgreSQL writes them. */
async function found(text: string, accountId = acme.accountId): Promise<string[]> {
  const names: string[] = []
  for (const table of await tables()) {
    if (!(await hasAccount(table))) continue
    const { rows } = await client.query<{ n: number }>(
      `select count(*)::int as n from ${table} r where account_id = $1 and r::text ilike '%' || $2 || '%'`,
      [accountId, text],
    )
    if (rows[0]?.n !== 0) names.push(table)
  }
  return names
}

async function tables(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name from pg_class where relnamespace = current_schema()::regnamespace
     and relkind in ('r', 'p') and relname not like 'pg\\_%' and relname not like 'citus\\_%' order by 1`,
  )
  return rows.map(({ name }) => name)
}

async function hasAccount(table: string): Promise<boolean> {
  const { rows } = await client.query(
    `select from pg_attribute where attrelid = $1::regclass and attname = 'account_id'`,
    [table],
  )
  return rows.length > 0 && table !== 'account'
}

async function finished(id: number, { accountId } = acme): Promise<void> {
  await eventually(async () => {
    const { rows } = await client.query(
      `select from erasure where account_id = $1 and id = $2 and terms is null and finished_at is not null`,
      [accountId, id],
    )
    return rows.length === 1
  })
}

const loggedRequests = async () =>
  (await client.query(`select from request where account_id = $1`, [acme.accountId])).rowCount ?? 0

it('knows every table of the database', async () => {
  expect(Object.keys(places).toSorted()).toEqual(await tables())
})

it('removes every value of a partner, and nothing of others', async () => {
  const marker = 'mkada'
  const person = {
    name: `Ada ${marker}`,
    is_company: false,
    is_patient: false,
    is_customer: true,
    is_vendor: false,
    is_employee: false,
    email: `${marker}@analytical.example`,
    phone: '+44 20 7946 0991',
    active: true,
  }
  for (const field of [
    { resource: 'partner', name: 'x_card', type: 'text', label: 'Card', unique: true },
    { resource: 'partner', name: 'x_note', type: 'text', label: 'Note' },
  ])
    expect((await send(acme, 'POST', '/manage/v1/fields', field)).status).toBe(201)
  expect(
    (await send(acme, 'POST', '/manage/v1/fields', { resource: 'partner', name: 'email', unique: true }))
      .status,
  ).toBe(201)
  await eventually(async () => {
    const { rows } = await client.query(`select from field where unique_state <> 'ready'`)
    return rows.length === 0
  })
  const grace = await send(acme, 'POST', partners, { ...person, name: 'Grace', email: 'grace@example.com' })
  const [kept] = [dataOf(grace).id]
  const created = await send(
    acme,
    'POST',
    partners,
    { ...person, x_card: `${marker}-1`, x_note: `${marker} note` },
    { 'idempotency-key': 'create-1' },
  )
  expect([created.status, created.body]).toMatchObject([201, {}])
  const { id } = dataOf(created)
  const patch = { name: `Countess ${marker}` }
  const patched = await send(acme, 'PATCH', `${partners}/${id}`, patch, { 'idempotency-key': 'patch-1' })
  expect(patched.status).toBe(200)
  await send(
    acme,
    'PATCH',
    `${partners}/${kept}`,
    { phone: '1' },
    { 'idempotency-key': `of-${marker}@analytical.example` },
  )
  const batch = { rows: [{ id, x_note: `${marker} again` }] }
  expect((await send(acme, 'POST', `${partners}/batch`, batch)).status).toBe(200)
  const filters = [
    `name="Countess ${marker}"`,
    `email*${marker}`,
    `name*"countess mk"`,
    `x_note=${marker}`,
    `name=${marker}&(`,
  ]
  for (const filter of filters) await send(acme, 'GET', `${partners}?filter=${encodeURIComponent(filter)}`)
  await send(acme, 'GET', `${partners}/email/${marker}@analytical.example`)
  await send(acme, 'GET', `${partners}/email/${marker}%40analytical.example`)
  await send(acme, 'PATCH', `${partners}/${kept}`, { email: person.email })
  await send(acme, 'GET', `${partners}?limit=1&filter=is_customer=true`)
  const position = dataOf(await send(acme, 'GET', `${partners}?filter=phone=1`))
  expect(position).toMatchObject([{ id: kept }])
  const now = await send(acme, 'GET', `${partners}/changes`)
  const { cursor } = JSON.parse(JSON.stringify(now.body))
  await eventually(async () => (await loggedRequests()) >= filters.length + 12)
  expect(await found(marker)).toEqual(
    expect.arrayContaining(['idempotency', 'partner', 'partner_before', 'partner_key', 'request']),
  )

  expect((await send(acme, 'DELETE', `${partners}/${id}?erase=true`)).status).toBe(204)
  expect((await send(acme, 'GET', `${partners}/${id}`)).status).toBe(404)
  const feed = await send(acme, 'GET', `${partners}/changes?since=${cursor}`)
  expect(dataOf(feed)).toEqual([{ change: 'deleted', id, version: expect.any(Number), erased: true }])
  // Neither answered nor repeated.
  for (const [method, path, body, key] of [
    ['POST', partners, { ...person, x_card: `${marker}-1`, x_note: `${marker} note` }, 'create-1'],
    ['PATCH', `${partners}/${id}`, patch, 'patch-1'],
  ] as const) {
    const again = await send(acme, method, path, body, { 'idempotency-key': key })
    expect([again.status, again.body]).toMatchObject([422, { code: 'idempotency_mismatch' }])
    expect(JSON.stringify(again.body)).not.toContain(marker)
  }
  await finished(id)
  expect(await found(marker)).toEqual([])
  const list = await send(acme, 'GET', `${partners}?filter=is_customer=true`)
  expect(list.body).toMatchObject({ meta: { total: 1 }, data: [{ id: kept, name: 'Grace' }] })
  const { rows: kinds } = await client.query(`select counts from erasure`)
  expect(kinds).toEqual([
    { counts: { 'idempotency results': expect.any(Number), 'logged requests': expect.any(Number) } },
  ])
  const audit = dataOf(await send(acme, 'GET', '/manage/v1/audit?filter=action*erase'))
  expect(audit).toMatchObject([
    { action: 'record.erased', subject: `partner ${id}`, actor: 'key' },
    { action: 'record.erase', subject: `partner ${id}`, actor: 'key' },
  ])
  const repeated = await send(acme, 'DELETE', `${partners}/${id}?erase=true`)
  expect(repeated.status).toBe(204)
  await finished(id)
})

it('needs its own scope, and rejects what an erasure does not take', async () => {
  const id = dataOf(await send(other, 'POST', partners, { name: 'Scoped' })).id
  const eraser = await account(client, 'eraser', ['partner:erase'])
  const deleter = await account(
    client,
    'deleter',
    scopes.filter((scope) => scope !== 'partner:erase'),
  )
  const status = async (by: TestAccount, path: string, headers = {}) =>
    (await send(by, 'DELETE', path, undefined, headers)).status
  expect(await status(deleter, `${partners}/1?erase=true`)).toBe(403)
  expect(await status(eraser, `${partners}/1`)).toBe(403)
  expect(await status(eraser, `${partners}/1?erase=true`)).toBe(404)
  for (const query of ['erase=false', 'erase=', 'erase=true&x=1', 'erase=true&erase=true'])
    expect(await status(other, `${partners}/${id}?${query}`)).toBe(400)
  expect(await status(other, `${partners}/${id}?erase=true`, { 'if-match': '"x"' })).toBe(400)
  expect(await status(other, `${partners}/${id}?erase=true`, { 'idempotency-key': 'x' })).toBe(400)
  expect(await status(other, '/api/v1/inventory/product/1?erase=true')).toBe(400)
  expect((await send(other, 'GET', `${partners}/${id}`)).status).toBe(200)
})

it('finds what an earlier deletion left, and does not touch a record that was created again', async () => {
  const marker = 'mkleft'
  const id = dataOf(await send(other, 'POST', partners, { name: `Left ${marker}` })).id
  expect((await send(other, 'DELETE', `${partners}/${id}`)).status).toBe(204)
  expect(await found(marker, other.accountId)).toEqual(['partner_before'])
  expect((await send(other, 'DELETE', `${partners}/${id}?erase=true`)).status).toBe(204)
  expect(await found(marker, other.accountId)).toEqual(['erasure'])
  const feed = dataOf(await send(other, 'GET', `${partners}/changes?since=now`))
  expect(feed).toEqual([])
  await finished(id, other)
  expect(await found(marker, other.accountId)).toEqual([])

  await client.query(
    `insert into partner (account_id, id, version, name, is_company, is_patient, is_customer, is_vendor, is_employee, active, create_date, write_date)
     values ($1, $2, 1, 'Left anew', false, false, false, false, false, true, now(), now())`,
    [other.accountId, id],
  )
  await client.query(`update erasure set terms = array['Left'], finished_at = null where account_id = $1`, [
    other.accountId,
  ])
  await finished(id, other)
  expect(await found('Left anew', other.accountId)).toEqual(['partner'])
})

it('the command repeats an erasure that was killed, and searches for further values', async () => {
  const by = await account(client, 'killed')
  const marker = 'mkkilled'
  const id = String(dataOf(await send(by, 'POST', partners, { name: `Kim ${marker}` })).id)
  await send(by, 'GET', `${partners}?filter=${encodeURIComponent(`name="Kim ${marker}"`)}`)
  await send(by, 'GET', `${partners}?filter=${encodeURIComponent('name=earlier-name')}`)
  await eventually(async () => (await found('earlier-name', by.accountId)).length > 0)
  // Killed after its first transaction.
  await inTransaction(client, (transaction) =>
    eraseRecord(transaction, { ...by, resource: resources.partner, id }, { actor: operator() }),
  )
  const args = ['erase', id, '--account', by.name, '--value', 'earlier-name', '--json']
  const ended = await quartermaster(args, { DATABASE_URL: url })
  expect([ended.code, JSON.parse(ended.stdout)]).toMatchObject([
    0,
    { account: 'killed', resource: 'partner', id: Number(id), finished_at: expect.any(String) },
  ])
  expect(await found(marker, by.accountId)).toEqual([])
  expect(await found('earlier-name', by.accountId)).toEqual([])
  const unknown = await quartermaster(['erase', '999', '--account', by.name], { DATABASE_URL: url })
  expect(unknown.code).toBe(3)
})

it('ends exports that may contain the record', async () => {
  const by = await account(client, 'exporting')
  const marker = 'mkexported'
  const id = dataOf(await send(by, 'POST', partners, { name: `First ${marker}` })).id
  await client.query(
    `insert into partner (account_id, id, version, name, is_company, is_patient, is_customer, is_vendor, is_employee, active, create_date, write_date)
     select $1, $2::bigint + g, 1, repeat('x', 500) || g, false, false, false, false, false, true, now(), now() from generate_series(1, 20000) g`,
    [by.accountId, id],
  )
  // A client that reads the headers and stops.
  const socket = connect(service.port, '127.0.0.1')
  socket.write(
    `GET ${partners} HTTP/1.1\r\nhost: ${by.name}.localhost\r\nauthorization: Bearer ${by.key}\r\naccept: application/x-ndjson\r\n\r\n`,
  )
  socket.on('error', () => {})
  const ended = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'readable')
  socket.read()
  await sleep(200)
  expect((await send(by, 'DELETE', `${partners}/${id}?erase=true`)).status).toBe(204)
  await eventually(() =>
    service.events.some((event) => event.kind === 'export-truncated' && event.code === 'deadline_exceeded'),
  )
  socket.resume()
  await ended
  const whole = await fetch(`http://127.0.0.1:${service.port}${partners}`, {
    headers: {
      'x-forwarded-host': `${by.name}.localhost`,
      authorization: `Bearer ${by.key}`,
      accept: 'application/x-ndjson',
    },
  })
  expect((await whole.text()).split('\n').at(-2)).toContain('"$end"')
})

it('the documented commands erase the person whom a filter names', async () => {
  const globex = await account(client, 'globex')
  const person = { name: 'Ada Lovelace', email: 'ada@example.com' }
  expect((await send(globex, 'POST', partners, person)).status).toBe(201)
  const script = `set -eu; quartermaster() { "${process.execPath}" "${bin}" "$@"; }; ${documented('erase')}`
  const { stdout } = await exec('bash', ['-c', script], { env: environmentWith({ DATABASE_URL: url }) })
  expect(stdout).toContain('of globex: erased')
  expect(await found('ada@example.com', globex.accountId)).toEqual([])
})
