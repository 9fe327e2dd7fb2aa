import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { documented } from '../../architecture/documented.ts'
import type { Deletion } from '../src/accounts/lifecycle/deletion.ts'
import { recheckDeleted, runDeletion } from '../src/accounts/lifecycle/run-deletion.ts'
import { scheduleDeletion } from '../src/accounts/lifecycle/schedule-deletion.ts'
import { postgresBinaries } from '../src/cli/database/find-postgres.ts'
import { operator } from '../src/cli/operator.ts'
import { inTransaction } from '../src/postgres/transaction.ts'
import { accountTables, fillAccount, rowsByTable } from './account-rows.ts'
import { bin, environmentWith, quartermaster } from './command.ts'
import { account, connected } from './database.ts'
import { eventually } from './eventually.ts'
import { freshService } from './service.ts'

/** A deleted account leaves nothing in any table, whichever tables the database has. */

const { url, client, service } = await freshService()
const run = (...args: string[]) => quartermaster(args, { DATABASE_URL: url })
const shop = await account(client, 'shop')
const other = await account(client, 'other')
await fillAccount(client, other.accountId, 'mkother', (name) => (name === 'tally' ? 0 : 3))
const othersRows = await rowsByTable(client, other.accountId)
const products = '/api/v1/inventory/product'

const deleteNow = (name: string) =>
  inTransaction(client, (transaction) => scheduleDeletion(transaction, operator(), name, 0))

const exec = promisify(execFile)
const hasNoDump = !existsSync(join(postgresBinaries(), 'pg_dump'))
const dump = async () =>
  (await exec(join(postgresBinaries(), 'pg_dump'), [url], { maxBuffer: 2 ** 28 })).stdout

it('the filler fills every table that the database has', async () => {
  const all = Object.entries(othersRows).map(([name, rows]) => [name, rows > 0])
  expect(all).toEqual(all.map(([name]) => [name, true]))
  expect(all.length).toBeGreaterThan(20)
})

it('is scheduled with a grace period, and cancelled by activating the account', async () => {
  const scheduled = JSON.parse((await run('account', 'delete', 'shop', '--json')).stdout)
  const graceMs = Date.parse(scheduled.due_at) - Date.parse(scheduled.requested_at)
  expect([scheduled.state, graceMs]).toEqual(['scheduled', 7 * 86_400_000])
  expect((await service.request(shop, 'GET', products)).status).toBe(401)
  expect(JSON.parse((await run('account', 'show', 'shop', '--json')).stdout)).toMatchObject({
    status: 'suspended',
    deletion: { state: 'scheduled', due_at: scheduled.due_at },
  })
  expect((await run('account', 'purge')).stderr).toBe('No deletion is due.\n')
  await expect(runDeletion(client, 'shop')).rejects.toThrow('The grace period of shop ends at')
  await run('account', 'activate', 'shop')
  expect((await service.request(shop, 'GET', products)).status).toBe(200)
  expect((await client.query('select from account_deletion')).rowCount).toBe(0)
})

it('needs the name twice to delete at once', async () => {
  for (const args of [['--now'], ['--now', '--yes', 'other'], ['--now', '--grace', '1d', '--yes', 'shop']])
    expect((await run('account', 'delete', 'shop', ...args)).code).toBe(64)
  expect((await run('account', 'delete', 'nobody')).code).toBe(3)
  expect((await client.query('select from account_deletion')).rowCount).toBe(0)
})

it('deletes every row of every table, and nothing of another account', async () => {
  const marker = 'mkdeleted'
  await fillAccount(client, shop.accountId, marker, (name) => (name === 'tally' ? 0 : 25))
  if (!hasNoDump) expect(await dump()).toContain(marker)
  const before = await rowsByTable(client, shop.accountId)
  expect(Object.values(before).every((rows) => rows > 0)).toBe(true)
  await deleteNow('shop')
  const ended = await runDeletion(client, 'shop', { rows: 10, settleMs: 0 })
  expect(ended).toMatchObject({ state: 'deleted', counts: { ...before, audit: expect.any(Number) } })
  expect(Object.values(await rowsByTable(client, shop.accountId)).filter((rows) => rows > 0)).toEqual([])
  if (!hasNoDump) expect(await dump()).not.toContain(marker)
  expect(await rowsByTable(client, other.accountId)).toEqual(othersRows)
  expect((await service.request(shop, 'GET', products)).status).toBe(401)
})

it('the name of a deleted account is never used again', async () => {
  const created = await run('account', 'create', 'shop', '--json')
  expect([created.code, JSON.parse(created.stderr).error.code]).toEqual([4, 'account_name_retired'])
  expect((await run('account', 'show', 'shop')).code).toBe(3)
  expect(JSON.parse((await run('account', 'delete', 'shop', '--json')).stdout).state).toBe('deleted')
  expect((await client.query(`select from account where name = 'shop'`)).rowCount).toBe(0)
})

it('rows that a process writes after the deletion are found later', async () => {
  await client.query(
    `insert into usage (account_id, per, at, key_id, route, requests, errors, unlogged, classes, counts)
     values ($1, 'minute', now(), 'k', 'GET /', 1, 0, 0, '{}', '{}')`,
    [shop.accountId],
  )
  const purged = await run('account', 'purge')
  // And what the service had still to write of the account's requests.
  expect(purged.stderr).toMatch(/^shop: [1-9]\d* rows that were written after its deletion are deleted\.$/m)
  const { rows } = await client.query<Deletion>(
    `select name, former_id as "formerId" from account_deletion where name = 'shop'`,
  )
  const [deletion] = rows
  expect(deletion && (await recheckDeleted(client, deletion))).toBe(0)
})

it('continues after kills at any step, by several processes at once, and counts each row once', async () => {
  const killed = await account(client, 'killed')
  await fillAccount(client, killed.accountId, 'mkkilled', (name) => (name === 'tally' ? 0 : 40))
  const before = await rowsByTable(client, killed.accountId)
  await deleteNow('killed')
  for (let kill = 1; kill <= 12; kill++) {
    const connection = await connected(url)
    let steps = 0
    const onStep = () => {
      // The connection breaks before the next step commits.
      if (++steps >= kill) connection.destroy()
    }
    await expect(runDeletion(connection, 'killed', { rows: 7, settleMs: 0, onStep })).rejects.toThrow()
  }
  const both = await Promise.all([
    runDeletion(await connected(url), 'killed', { rows: 7, settleMs: 0 }),
    runDeletion(await connected(url), 'killed', { rows: 7, settleMs: 0 }),
  ])
  const counts = { ...before, audit: (before['audit'] ?? 0) + 1 }
  expect(both.map((deletion) => deletion.state)).toEqual(['deleted', 'deleted'])
  expect(both[0]?.counts).toEqual(counts)
  expect(await rowsByTable(client, other.accountId)).toEqual(othersRows)
})

it('the command is killed, and the same command continues', async () => {
  const large = await account(client, 'large')
  await client.query(
    `insert into product select $1, g, 1, 'mklarge' || g, null, 0, 0, true, null, null, null, now(), now()
     from generate_series(1, 60000) g`,
    [large.accountId],
  )
  const command = ['account', 'delete', 'large', '--now', '--yes', 'large', '--json']
  const child = spawn(process.execPath, [bin, ...command], { env: environmentWith({ DATABASE_URL: url }) })
  onTestFinished(() => void child.kill('SIGKILL'))
  const left = async () => (await rowsByTable(client, large.accountId))['product'] ?? 0
  await eventually(async () => (await left()) < 60_000)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(await left()).toBeGreaterThan(0)
  const activated = await run('account', 'activate', 'large', '--json')
  expect([activated.code, JSON.parse(activated.stderr).error.code]).toEqual([6, 'account_deleting'])
  // Otherwise it waits until processes have written their logs.
  await client.query(
    `update account_deletion set requested_at = now() - interval '1 hour' where name = 'large'`,
  )
  const ended = await run(...command)
  expect(JSON.parse(ended.stdout)).toMatchObject({
    state: 'deleted',
    deleted_rows: { product: 60_000, tally: 3 },
  })
  expect((await accountTables(client)).length).toBeGreaterThan(20)
})

it('the documented commands schedule, cancel, schedule again and delete', async () => {
  await account(client, 'globex')
  const outputs = []
  for (const line of documented('account-delete').trim().split('\n')) {
    const [program, ...args] = line.split(' ')
    expect(program).toBe('quartermaster')
    const ended = await run(...args)
    expect([line, ended.code]).toEqual([line, 0])
    outputs.push(ended.stdout)
    // Otherwise the last command waits until processes have written their logs.
    await client.query(
      `update account_deletion set requested_at = now() - interval '1 hour' where name = 'globex'`,
    )
  }
  expect(outputs).toEqual([
    expect.stringMatching(/^globex: suspended; it will be deleted after /),
    expect.stringMatching(/^globex: active/),
    expect.stringMatching(/^globex: suspended; it will be deleted after /),
    expect.stringMatching(/^globex: deleted at [\s\S]*\ntally +3\n/),
  ])
})
