import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Pace, sql } from '../src/sql.ts'
import { Store } from '../src/store/pool.ts'
import { freshDatabase } from './database.ts'

/** Which statements have one plan for all values, on connections that others used before. */

let store: Store

beforeAll(async () => {
  const role = 'quartermaster_server'
  store = new Store({ url: await freshDatabase(), role, tell: () => {}, connectionsMax: 1, readMsMax: 5_000 })
})

afterAll(() => store.close())

async function modeOf(pace: Pace | undefined): Promise<string | undefined> {
  const mode = sql`select current_setting('plan_cache_mode') as mode`.statement('other')
  const [row] = await store.read<{ mode: string }>({ ...mode, pace })
  return row?.mode
}

it('steady and quick statements are planned once, others for their values', async () => {
  const paces = [undefined, 'steady', 'steady', undefined, 'quick', undefined, 'steady', 'quick'] as const
  for (const pace of paces)
    expect(await modeOf(pace)).toBe(pace === undefined ? 'auto' : 'force_generic_plan')
})

it('a statement that fails leaves its connection as the next one needs it', async () => {
  const failing = sql`select 1 / 0 as mode`.statement('other')
  await expect(store.read({ ...failing, pace: 'steady' })).rejects.toThrow()
  expect(await modeOf(undefined)).toBe('auto')
  await expect(store.read(failing)).rejects.toThrow()
  expect(await modeOf('steady')).toBe('force_generic_plan')
})
