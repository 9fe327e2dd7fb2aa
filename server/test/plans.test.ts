import { afterAll, beforeAll, expect, it } from 'vitest'
import { limits } from '../src/limits.ts'
import { Database } from '../src/postgres/database.ts'
import { type Execution, sql } from '../src/sql.ts'
import { freshDatabase } from './database.ts'

/** Which statements have one plan for all values, on connections that others used before. */

let database: Database

beforeAll(async () => {
  const role = 'quartermaster_server'
  database = new Database({
    url: await freshDatabase(),
    role,
    emit: () => {},
    connectionsMax: 1,
    limits,
    readMsMax: 5_000,
  })
})

afterAll(() => database.close())

async function modeOf(execution: Execution | undefined): Promise<string | undefined> {
  const mode = sql`select current_setting('plan_cache_mode') as mode`.statement('other')
  const [row] = await database.read<{ mode: string }>({ ...mode, execution })
  return row?.mode
}

it('steady and quick statements are planned once, others for their values', async () => {
  const paces = [
    undefined,
    'generic',
    'generic',
    undefined,
    'pipelined',
    undefined,
    'generic',
    'pipelined',
  ] as const
  for (const execution of paces)
    expect(await modeOf(execution)).toBe(execution === undefined ? 'auto' : 'force_generic_plan')
})

it('a statement that fails leaves its connection as the next one needs it', async () => {
  const failing = sql`select 1 / 0 as mode`.statement('other')
  await expect(database.read({ ...failing, execution: 'generic' })).rejects.toThrow()
  expect(await modeOf(undefined)).toBe('auto')
  await expect(database.read(failing)).rejects.toThrow()
  expect(await modeOf('generic')).toBe('force_generic_plan')
})

// Each hundred is asked for more than twice as often as the one before, and takes its place.
it.each([
  ['generic', [4, 10, 22]],
  ['pipelined', [50, 110, 230]],
] as const)('%s statements that come and go leave none behind', async (execution, hundreds) => {
  const held: number[] = []
  for (const [hundred, times] of hundreds.entries()) {
    for (let one = 0; one < limits.preparedStatementsMax; one++) {
      const kind = String(hundred * limits.preparedStatementsMax + one)
      const text = `select count(*) as held, $1::text as given, '${kind}' as kind, '${execution}' as execution from pg_prepared_statements`
      const given = Array.from({ length: times }, (_, i) => String(i))
      const read = (value: string) =>
        database.read<{ held: string; given: string; kind: string }>({
          execution,
          operation: 'other',
          text,
          values: [value],
        })
      const rows = (await Promise.all(given.map(read))).flat()
      expect(rows.map((row) => [row.given, row.kind])).toEqual(given.map((value) => [value, kind]))
      held.push(...rows.map((row) => Number(row.held)))
    }
  }
  expect(Math.max(...held)).toBeLessThanOrEqual(limits.preparedStatementsMax)
  expect(Math.max(...held)).toBeGreaterThan(limits.preparedStatementsMax / 2)
})
