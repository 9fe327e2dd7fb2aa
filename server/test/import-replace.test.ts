import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { resources } from '../src/catalog/resources.ts'
import { importCommand } from '../src/cli/import/import-command.ts'
import { type ImportRow, ImportSession } from '../src/import/session.ts'
import { limits } from '../src/limits.ts'
import { account, connected, freshDatabase } from './database.ts'
import { eventually, waitingForLocks } from './eventually.ts'

/** `--replace` while others write. Locks, not times, put the steps of the two in order. */

let url: string
let folder: string
/** Looks at what the others do. */
let client: pg.Client
/** Holds a record, so that whoever writes or deletes it waits. */
let holder: pg.Client
let ours: pg.Client
let theirs: pg.Client
let name: string
let accountId: string
let made = 0

beforeAll(async () => {
  url = await freshDatabase()
  client = await connected(url)
  holder = await connected(url)
  ours = await connected(url)
  theirs = await connected(url)
  folder = mkdtempSync(join(tmpdir(), 'quartermaster-replace-'))
})
afterAll(async () => {
  await Promise.all([client, holder, ours, theirs].map((one) => one.end()))
  rmSync(folder, { recursive: true })
})
beforeEach(async () => {
  made += 1
  name = `acme-${made}`
  accountId = (await account(client, name)).accountId
})

const open = (by: pg.Client) =>
  ImportSession.open(by, { accountId }, resources.product, { trackIds: by === ours })

const rows = (from: number, to: number, text: string): ImportRow[] =>
  Array.from({ length: to - from + 1 }, (_, i) => [String(from + i), text])

/** As many records as it takes, written as an import writes them. */
async function fill(count: number): Promise<void> {
  const session = await open(theirs)
  for (let from = 1; from <= count; from += limits.importBatchRows) {
    await session.write(rows(from, Math.min(count, from + limits.importBatchRows - 1), 'before'))
  }
}

const waiting = (count: number) => eventually(async () => (await waitingForLocks(client)).length === count)

async function hold(id: number): Promise<void> {
  await holder.query('begin')
  await holder.query('select from product where account_id = $1 and id = $2 for update', [accountId, id])
}

/** The number of records by name, and the total that the tally has. */
async function state(): Promise<{ byName: Record<string, number>; total: number | undefined }> {
  const records = await client.query<{ name: string; count: number }>(
    'select name, count(*)::int from product where account_id = $1 group by name',
    [accountId],
  )
  const tally = await client.query<{ total: number }>(
    `select total::int from tally where account_id = $1 and resource = 'product'`,
    [accountId],
  )
  const byName = Object.fromEntries(records.rows.map((row) => [row.name, row.count]))
  return { byName, total: tally.rows[0]?.total }
}

/**
 * Our import has looked for what is to go, and waits for the tally, while theirs is in the midst of writing records
 * that ours would delete. Then theirs commits, and ours goes on.
 */
async function deleteWhileTheyWrite(theirRows: readonly ImportRow[], ourRow: ImportRow): Promise<number[]> {
  const replacing = await open(ours)
  await replacing.write([ourRow])
  const other = await open(theirs)
  await hold(Number(theirRows[0]?.[0]))
  const writing = other.write(theirRows)
  await waiting(1)
  const batches: number[] = []
  const deleting = replacing.deleteMissing((deleted) => batches.push(deleted))
  await waiting(2)
  await holder.query('rollback')
  expect(await writing).toMatchObject({ updated: theirRows.length })
  await deleting
  return batches
}

describe('an import that replaces', () => {
  it('leaves what another import writes between its search and its deletion', async () => {
    await fill(3)
    expect(await deleteWhileTheyWrite([['2', 'theirs']], ['1', 'ours'])).toEqual([1])
    expect(await state()).toEqual({ byName: { ours: 1, theirs: 1 }, total: 2 })
  })

  it('goes on after a batch of which others have left nothing to delete', async () => {
    const size = limits.importBatchRows
    await fill(size + 5)
    const batches = await deleteWhileTheyWrite(rows(1, size, 'theirs'), [String(size + 5), 'ours'])
    expect(batches).toEqual([0, 4])
    expect(await state()).toEqual({ byName: { ours: 1, theirs: size }, total: size + 1 })
  })

  it('says how much it has deleted when it breaks off', async () => {
    const size = limits.importBatchRows
    await fill(size + 5)
    const file = join(folder, 'one.csv')
    writeFileSync(file, `id,name\n${size + 5},ours\n`)
    let stderr = ''
    // The second batch of the deletion waits for this record, and its connection is ended there.
    await hold(size + 2)
    const importing = importCommand({
      ownerUrl: url,
      account: name,
      resource: 'product',
      file,
      replace: true,
      json: true,
      stdout: { write: () => true },
      stderr: { write: (text) => (stderr += text) },
    })
    await waiting(1)
    const [pid] = await waitingForLocks(client)
    await client.query('select pg_terminate_backend($1)', [pid])
    expect(await importing).toBe(1)
    await holder.query('rollback')
    expect(stderr).toContain('Before that, 1 row was written and 10,000 records were deleted. Fix the cause')
    expect(await state()).toEqual({ byName: { before: 4, ours: 1 }, total: 5 })
  })
})
