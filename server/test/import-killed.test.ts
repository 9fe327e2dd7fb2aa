import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { importCommand } from '../src/cli/import/import-command.ts'
import { account, connected, freshDatabase } from './database.ts'

const name = 'acme'
const count = 100_000
let url: string
let client: pg.Client
let folder: string
let accountId: string

beforeAll(async () => {
  url = await freshDatabase()
  client = await connected(url)
  folder = mkdtempSync(join(tmpdir(), 'quartermaster-import-'))
  accountId = (await account(client, name)).accountId
})
afterAll(async () => {
  await client.end()
  rmSync(folder, { recursive: true })
})

it('an import that is killed and run again neither loses nor duplicates records', async () => {
  const file = join(folder, 'killed.csv')
  const lines = Array.from({ length: count }, (_, i) => `${i + 1},Part ${i + 1},${i % 1000}.25`)
  writeFileSync(file, `id,name,list_price\n${lines.join('\n')}\n`)
  for (let kills = 1; kills <= 3; kills += 1) {
    await killMidway(file, kills * 10_000, (4 - kills) * 70)
    const { total } = await tally()
    expect(await counted()).toMatchObject({ count: total, last: total })
    expect(await audited(/^from .*killed\.csv, not completed: (\d+) inserted, 0 updated, 0 deleted$/)).toBe(
      total,
    )
  }
  const { total: before } = await tally()
  expect(before).toBeLessThan(count)
  const silent = { write: () => true }
  const options = {
    ownerUrl: url,
    account: name,
    file,
    replace: false,
    json: true,
    stdout: silent,
    stderr: silent,
  }
  expect(await importCommand({ ...options, resource: 'product' })).toBe(0)
  expect(await tally()).toEqual({ version: count / 10_000, total: count, last: count })
  // The sum of 1 to 100,000; prices of 0.25 to 999.25, a hundred times over.
  expect(await counted()).toEqual({ count, last: count, ids: '5000050000', prices: '49975000.00' })
  expect(await audited(/^from .*killed\.csv: (\d+) inserted, 0 updated, 0 deleted, 0 rejected$/)).toBe(
    count - before,
  )
})

/** How many records were inserted according to those rows of the audit log that match. */
async function audited(details: RegExp): Promise<number> {
  const { rows } = await client.query<{ details: string }>(
    `select details from audit where account_id = $1 and action = 'account.import'`,
    [accountId],
  )
  return rows.reduce((sum, row) => sum + Number(details.exec(row.details)?.[1] ?? 0), 0)
}

/** Starts the import and kills it `laterMs` after `rows` records are committed. */
async function killMidway(file: string, rows: number, laterMs: number): Promise<void> {
  const command = new URL('../src/cli/import/import-command.ts', import.meta.url).href
  const script = `
    import { importCommand } from ${JSON.stringify(command)}
    const [ownerUrl, account, file] = process.argv.slice(1)
    const { stdout, stderr } = process
    await importCommand({ ownerUrl, account, resource: 'product', file, replace: false, json: true, stdout, stderr })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, url, name, file], {
    stdio: 'ignore',
  })
  const signal = new Promise((resolve) => child.once('exit', (_, by) => resolve(by)))
  while ((await tally()).total < rows) await sleep(5)
  await sleep(laterMs)
  child.kill('SIGKILL')
  expect(await signal).toBe('SIGKILL')
  // PostgreSQL may still commit the batch until it detects that its client has disconnected.
  while ((await others()) > 0) await sleep(5)
}

async function tally(): Promise<{ version: number; total: number; last: number }> {
  return await one(
    `select version::int, total::int, last_id::int as last from tally where account_id = $1 and resource = 'product'`,
  )
}

async function counted(): Promise<Record<string, unknown>> {
  return await one(
    `select count(*)::int, coalesce(max(id), 0)::int as last, sum(id)::text as ids, sum(list_price)::text as prices
     from product where account_id = $1`,
  )
}

async function others(): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'select count(*)::int from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = $1',
    ['client backend'],
  )
  return rows[0]?.count ?? 0
}

async function one<Row extends pg.QueryResultRow>(text: string): Promise<Row> {
  const { rows } = await client.query<Row>(text, [accountId])
  const row = rows[0]
  if (row === undefined) throw new Error('there should be a row')
  return row
}
