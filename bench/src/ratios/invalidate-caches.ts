import { withClient } from '../../../server/src/postgres/client.ts'
import type { Client } from '../../../verification/src/client.ts'
import type { Fixture } from './fixture.ts'
import { get } from './same-work.ts'

/** Increments the version of all products: cached responses, totals and pages become invalid. */
export async function invalidateCaches({ url }: Fixture): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(`update tally set version = version + 1 where resource = 'product'`)
    await client.query('vacuum tally')
  })
}

/** The times of requests to the large account, each after its caches were invalidated. */
export async function uncachedMs(
  fixture: Fixture,
  client: Client,
  count: number,
  pathOf: () => string,
): Promise<number[]> {
  return withClient(fixture.url, async (database) => {
    const times: number[] = []
    for (let i = 0; i < count; i++) {
      await database.query(
        `update tally set version = version + 1 where account_id = $1 and resource = 'product'`,
        [fixture.large.id],
      )
      const path = pathOf()
      const started = performance.now()
      await get(client, fixture, fixture.large, path)
      times.push(performance.now() - started)
    }
    return times
  })
}
