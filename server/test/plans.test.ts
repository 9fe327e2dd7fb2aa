import { expect, it } from 'vitest'
import { limits } from '../src/limits/limits.ts'
import { defaultLimits } from '../src/limits/passed-limits.ts'
import { Database } from '../src/postgres/database.ts'
import { type Execution, sql } from '../src/sql.ts'
import { atEnd } from './at-end.ts'
import { freshDatabase } from './database.ts'
import { patientLimits } from './service.ts'

/** Which statements use a generic plan, on connections that other statements used before. */

const database = new Database({
  url: await freshDatabase(),
  role: 'quartermaster_server',
  emit: () => {},
  connectionsMax: 1,
  limits: { ...defaultLimits, ...patientLimits },
  readMsMax: 300_000,
})
atEnd(() => database.close())

async function modeOf(execution: Execution | undefined): Promise<string | undefined> {
  const mode = sql`select current_setting('plan_cache_mode') as mode`.statement('other')
  const [row] = await database.read<{ mode: string }>({ ...mode, execution })
  return row?.mode
}

it('generic and pipelined statements use a generic plan, others a custom plan', async () => {
  const executions = [
    undefined,
    'generic',
    'generic',
    undefined,
    'pipelined',
    undefined,
    'generic',
    'pipelined',
  ] as const
  for (const execution of executions)
    expect(await modeOf(execution)).toBe(execution === undefined ? 'auto' : 'force_generic_plan')
})

it('the next statement after a failed one has the right plan mode', async () => {
  const failing = sql`select 1 / 0 as mode`.statement('other')
  await expect(database.read({ ...failing, execution: 'generic' })).rejects.toThrow()
  expect(await modeOf(undefined)).toBe('auto')
  await expect(database.read(failing)).rejects.toThrow()
  expect(await modeOf('generic')).toBe('force_generic_plan')
})

// Each hundred is used more than twice as often as the one before, and replaces it in the statement cache.
it.each([
  ['generic', [4, 10, 22]],
  ['pipelined', [50, 110, 230]],
] as const)('%s statements that leave the cache are deallocated', async (execution, hundreds) => {
  const prepared: number[] = []
  for (const [hundred, times] of hundreds.entries()) {
    for (let one = 0; one < limits.preparedStatementsMax; one++) {
      const kind = String(hundred * limits.preparedStatementsMax + one)
      const text = `select count(*) as prepared, $1::text as parameter, '${kind}' as kind, '${execution}' as execution from pg_prepared_statements`
      const parameters = Array.from({ length: times }, (_, i) => String(i))
      const read = (value: string) =>
        database.read<{ prepared: string; parameter: string; kind: string }>({
          execution,
          operation: 'other',
          text,
          values: [value],
        })
      const rows = (await Promise.all(parameters.map(read))).flat()
      expect(rows.map((row) => [row.parameter, row.kind])).toEqual(parameters.map((value) => [value, kind]))
      prepared.push(...rows.map((row) => Number(row.prepared)))
    }
  }
  expect(Math.max(...prepared)).toBeLessThanOrEqual(limits.preparedStatementsMax)
  expect(Math.max(...prepared)).toBeGreaterThan(limits.preparedStatementsMax / 2)
})
