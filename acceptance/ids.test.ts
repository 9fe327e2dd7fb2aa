import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { create, createdId, faultIn, keyOf, list, partners, send } from './client.ts'
import { issueKey, quartermaster } from './operator.ts'

/** Who assigns ids: Quartermaster, or the system that sends rows. */

const { local } = inject('target')
const environment = { DATABASE_URL: local?.databaseUrl ?? '' }
let accounts = 0

/** A new account with partners only. */
async function newAccount() {
  const name = `ids-${++accounts}`
  await quartermaster(environment, 'account', 'create', name)
  const owner = { host: name, key: (await issueKey(environment, name, 'writes')).key }
  return {
    name,
    create: async () => createdId(await create('{"name":"Created here"}', owner)),
    batch: async (rows: readonly object[], query = '') => {
      const body = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
      const headers = { 'content-type': 'application/x-ndjson' }
      const { text } = await send(`${partners}/batch${query}`, { ...owner, method: 'POST', headers, body })
      const lines = text.trim().split('\n')
      return lines.map((line): Record<string, unknown> => JSON.parse(line))
    },
    records: async () => (await list(`${partners}?fields=id,name&limit=100`, owner)).data,
    ids: async () => {
      const shown = await quartermaster(environment, 'account', 'show', name, '--json')
      const { tallies }: { tallies: { resource: string; ids: string }[] } = JSON.parse(shown)
      return tallies.find(({ resource }) => resource === 'partner')?.ids
    },
    /** What the audit log says about imports, oldest first. */
    audit: async () => {
      const { data } = await list('/manage/v1/audit', owner)
      const imports = data.filter(({ action }) => action === 'account.import')
      return imports.map(({ details }) => String(details).replace(/from .*\//, 'from ')).toReversed()
    },
    /** Imports partners from a CSV file. Returns what the command has printed. */
    import: async (rows: readonly string[], ...options: readonly string[]) => {
      const folder = await mkdtemp(join(tmpdir(), 'acceptance-'))
      try {
        const file = join(folder, 'partners.csv')
        await writeFile(file, `id,name\n${rows.join('\n')}\n`)
        const args = ['import', 'partner', file, '--account', name, '--json', ...options]
        const summary: Record<string, unknown> = JSON.parse(await quartermaster(environment, ...args))
        return summary
      } finally {
        await rm(folder, { recursive: true })
      }
    },
  }
}

const end = (counts: object) => ({ $end: expect.objectContaining(counts) })
const both = [
  { id: 1, name: 'Created here' },
  { id: 2, name: 'Created here' },
]

test('[W11] mode is upsert, update or insert, once', async () => {
  const headers = { 'content-type': 'application/x-ndjson' }
  const options = { host: 'initech', key: keyOf('initech'), method: 'POST', headers, body: '' }
  for (const [query, code] of [
    ['mode=load', 'choice_invalid'],
    ['mode=update&mode=update', 'parameter_repeated'],
    ['modes=update', 'parameter_unknown'],
  ])
    expect(faultIn(await send(`${partners}/batch?${query}`, options))).toMatchObject({ code })
})

describe.skipIf(local === undefined)('who assigns ids', () => {
  test('[W10] the first rows with ids make the resource external, and the result says so', async () => {
    const [sent, imported] = await Promise.all([newAccount(), newAccount()])
    expect(await sent.ids()).toBe('unassigned')
    expect(await sent.batch([{ id: 7, name: 'Of the ERP' }])).toEqual([
      end({ inserted: 1, idsNow: 'external' }),
    ])
    expect(await imported.import(['7,Of the ERP'])).toMatchObject({ inserted: 1, idsNow: 'external' })
    for (const account of [sent, imported]) {
      expect(await account.ids()).toBe('external')
      expect(await account.create()).toBe(4294967296)
    }
  })

  test('[W10] rows do not change records that they may not mean, nor the next id', async () => {
    const account = await newAccount()
    expect([await account.create(), await account.create()]).toEqual([1, 2])
    expect(await account.ids()).toBe('service')
    const rows = [{ id: 2, name: 'Another' }, { id: 90, name: 'Mistyped' }, { $delete: 1 }]
    const lines = await account.batch(rows)
    expect(lines).toMatchObject([{ line: 1 }, { line: 2 }, { line: 3 }, end({ rejected: 3 })])
    await expect(account.import(['2,Another', '3,New'])).rejects.toThrow('Nothing was written.')
    expect(await account.records()).toEqual(both)
    expect(await account.create()).toBe(3)
  })

  test('[W10] an administrator decides who assigns ids, and back while no row has brought one', async () => {
    const account = await newAccount()
    await account.create()
    await account.create()
    const decide = async (source: string) =>
      await quartermaster(environment, 'account', 'ids', account.name, 'partner', source)
    expect(await decide('external')).toBe(
      `${account.name} partner: external: another system assigns ids 3 to 4294967295, this service those from 4294967296\n`,
    )
    expect(await decide('service')).toContain('service: this service assigns all ids')
    await decide('external')
    expect(await account.import(['3,Of the ERP'])).toMatchObject({ inserted: 1 })
    await expect(decide('service')).rejects.toThrow(
      `The partner 3 of ${account.name} has an id of the other system.`,
    )
    expect(await account.batch([{ id: 1, name: 'Another' }])).toMatchObject([
      { line: 1 },
      end({ rejected: 1 }),
    ])
    expect(await account.records()).toEqual([...both, { id: 3, name: 'Of the ERP' }])
  })

  test('[W11] mode=update changes what was read here, and inserts nothing', async () => {
    const account = await newAccount()
    await account.create()
    await account.create()
    const rows = [{ id: 1, name: 'Changed' }, { $delete: 2 }, { id: 3, name: 'Unknown' }]
    expect(await account.batch(rows, '?mode=update')).toMatchObject([
      { line: 3, id: 3, field: 'id' },
      end({ updated: 1, deleted: 1, rejected: 1 }),
    ])
    // A row that was read before the record was deleted does not bring it back.
    expect(await account.batch([{ id: 2, name: 'Stale' }], '?mode=update')).toMatchObject([
      { line: 1, id: 2 },
      end({ rejected: 1 }),
    ])
    expect(await account.import(['1,Changed again'], '--mode', 'update')).toMatchObject({ updated: 1 })
    expect(await account.records()).toEqual([{ id: 1, name: 'Changed again' }])
    expect(await account.create()).toBe(3)
  })

  test('[W13] import --replace spares records created here, and refuses to delete most of the others', async () => {
    const account = await newAccount()
    const rows = Array.from({ length: 20 }, (_, i) => `${i + 1},Of the ERP`)
    await account.import(rows)
    const created = await account.create()
    const ids = async () => (await account.records()).map(({ id }) => id)
    await expect(account.import(['1,Of the ERP'], '--replace')).rejects.toThrow(
      '19 of 20 partners are not in the file, and --replace may delete 2. Nothing was deleted. If the file is complete, run the same command with --max-delete 19.',
    )
    await expect(account.import(['1,Of the ERP'], '--replace', '--mode', 'update')).rejects.toThrow(
      '--replace cannot be used with --mode update',
    )
    expect(await ids()).toHaveLength(21)
    const two = rows.slice(0, 18)
    expect(await account.import([...two, '21,New'], '--replace', '--dry-run')).toMatchObject({
      inserted: 1,
      unchanged: 18,
      deleted: 2,
    })
    expect(await ids()).toHaveLength(21)
    expect(await account.import(two, '--replace')).toMatchObject({ deleted: 2 })
    expect(await account.import(['1,Of the ERP'], '--replace', '--max-delete', '100%')).toMatchObject({
      deleted: 17,
    })
    expect(await ids()).toEqual([1, created])
    expect(await account.audit()).toEqual([
      'from partners.csv: 20 inserted, 0 updated, 0 deleted, 0 rejected',
      'from partners.csv: 0 inserted, 0 updated, 2 deleted, 0 rejected',
      'from partners.csv: 0 inserted, 0 updated, 17 deleted, 0 rejected',
    ])
  })
})
