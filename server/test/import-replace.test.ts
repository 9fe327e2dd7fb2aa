import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { resources } from '../src/catalog/resources.ts'
import { importCommand } from '../src/cli/import/import-command.ts'
import type { ImportRow } from '../src/import/net-effect.ts'
import { ImportSession } from '../src/import/session.ts'
import { limits } from '../src/limits/limits.ts'
import type { Connection } from '../src/postgres/connection.ts'
import { temporaryFolder } from './at-end.ts'
import { account, connected, freshDatabase } from './database.ts'
import { eventually, waitingForLocks } from './eventually.ts'
import { rowParts } from './row-parts.ts'

/** `--replace` during other writes. Locks order the steps of both, not timing. */

let name: string
let accountId: string
let created = 0

const url = await freshDatabase()
/** Observes the other connections. */
const client = await connected(url)
/** Locks a record, so that a write or deletion of it waits. */
const holder = await connected(url)
const ours = await connected(url)
const theirs = await connected(url)
const folder = temporaryFolder('replace')

beforeEach(async () => {
  created += 1
  name = `acme-${created}`
  accountId = (await account(client, name)).accountId
})

const open = (by: Connection) =>
  ImportSession.open(by, { accountId }, resources.product, { trackIds: by === ours, mode: 'upsert' })

const rows = (from: number, to: number, text: string): ImportRow[] =>
  Array.from({ length: to - from + 1 }, (_, i) => [String(from + i), text])

/** Inserts `count` records in the batches of an import. */
async function fill(count: number): Promise<void> {
  const session = await open(theirs)
  for (let from = 1; from <= count; from += limits.importBatchRows) {
    await session.write(rowParts(rows(from, Math.min(count, from + limits.importBatchRows - 1), 'before')))
  }
}

const waiting = (count: number) => eventually(async () => (await waitingForLocks(client)).length === count)

async function hold(id: number): Promise<void> {
  await holder.query('begin')
  await holder.query('select from product where account_id = $1 and id = $2 for update', [accountId, id])
}

/** The number of records by name, and the total of the tally. */
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
 * Our import has selected the records to delete and waits for the tally, while another import is writing some of those
 * records. Then the other commits, and ours continues.
 */
async function deleteWhileTheyWrite(theirRows: readonly ImportRow[], ourRow: ImportRow): Promise<number[]> {
  const replacing = await open(ours)
  await replacing.write(rowParts([ourRow]))
  const other = await open(theirs)
  await hold(Number(theirRows[0]?.[0]))
  const writing = other.write(rowParts(theirRows))
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
  it('does not delete what another import writes between its search and its deletion', async () => {
    await fill(3)
    expect(await deleteWhileTheyWrite([['2', 'theirs']], ['1', 'ours'])).toEqual([1])
    expect(await state()).toEqual({ byName: { ours: 1, theirs: 1 }, total: 2 })
  })

  it('continues after a batch in which another import has left nothing to delete', async () => {
    const size = limits.importBatchRows
    await fill(size + 5)
    const batches = await deleteWhileTheyWrite(rows(1, size, 'theirs'), [String(size + 5), 'ours'])
    expect(batches).toEqual([0, 4])
    expect(await state()).toEqual({ byName: { ours: 1, theirs: size }, total: size + 1 })
  })

  it('reports how many records it has deleted if it fails', async () => {
    const size = limits.importBatchRows
    await fill(size + 5)
    const file = join(folder, 'one.csv')
    writeFileSync(file, `id,name\n${size + 5},ours\n`)
    let stderr = ''
    // The second batch of the deletion waits for this record; then its backend is terminated.
    await hold(size + 2)
    const importing = importCommand({
      ownerUrl: url,
      account: name,
      resource: 'product',
      file,
      replace: true,
      maxDelete: { percent: 100 },
      json: true,
      stdout: { write: () => true },
      stderr: { write: (text) => (stderr += text) },
    })
    await waiting(1)
    const [pid] = await waitingForLocks(client)
    await client.query('select pg_terminate_backend($1::int)', [pid])
    expect(await importing).toBe(1)
    await holder.query('rollback')
    expect(stderr).toContain('Before that, 1 row was written and 10,000 records were deleted. Fix the cause')
    expect(await state()).toEqual({ byName: { before: 4, ours: 1 }, total: 5 })
    const { rows: imports } = await client.query<{ details: string }>(
      `select details from audit where account_id = $1 and action = 'account.import'`,
      [accountId],
    )
    expect(imports).toEqual([
      { details: `from ${file}, not completed: 0 inserted, 1 updated, 10000 deleted` },
    ])
  })
})
