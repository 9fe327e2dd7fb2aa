import { withClient } from '../../../server/src/postgres/client.ts'
import type { Client } from '../../../verification/src/client.ts'
import type { Fixture } from './fixture.ts'
import { get } from './same-work.ts'

/** A new version of all products: no answer, total or page that the server remembers holds any longer. */
export async function forgetAll({ url }: Fixture): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(`update tally set version = version + 1 where resource = 'product'`)
    await client.query('vacuum tally')
  })
}

/** How long requests to the large account take, before each of which what is remembered of it is forgotten. */
export async function forgottenMs(
  fixture: Fixture,
  client: Client,
  count: number,
  pathOf: () => string,
): Promise<number[]> {
  return withClient(fixture.url, async (bare) => {
    const times: number[] = []
    for (let i = 0; i < count; i++) {
      await bare.query(
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
