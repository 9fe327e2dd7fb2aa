import { withClient } from '../../../../server/src/postgres/client.ts'
import { products } from '../../load/fixture.ts'
import type { Attack, Target } from './attack.ts'
import { ask, flood, keepOpen } from './requests.ts'

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const growth = encodeURIComponent('list_price>=0')

export const readAttacks: readonly Attack[] = [
  {
    name: 'filters',
    run: (target, signal) =>
      flood(target, signal, 64, (n) => ({
        path: `${products}?limit=10&filter=${encodeURIComponent(`name!*q${n}&default_code!*${n}`)}`,
      })),
  },
  {
    name: 'query_bodies',
    run: (target, signal) =>
      flood(target, signal, 32, (n) => {
        const values = Array.from({ length: 1_000 }, (_, i) => `${'x'.repeat(50)}${n}-${i}`).join(',')
        return { method: 'QUERY', path: products, headers: form, body: `filter=name![${values}]` }
      }),
  },
  {
    name: 'deep_pages',
    run: (target, signal) =>
      flood(target, signal, 32, (n) => ({
        path: `${products}?limit=1000&page=${1 + (n % 90)}&filter=${encodeURIComponent(`id!=${n}`)}`,
      })),
  },
  {
    name: 'long_pages',
    run: (target, signal) =>
      flood(target, signal, 32, (n) => ({
        path: `${products}?limit=${1000 - (n % 100)}&page=${1 + (n % 20)}`,
      })),
  },
  {
    name: 'methods',
    run: (target, signal) =>
      flood(target, signal, 64, (n) => ({
        method: n % 2 === 0 ? 'HEAD' : 'OPTIONS',
        path: `${products}/${n}`,
      })),
  },
  {
    name: 'wrong_bodies',
    run: (target, signal) => {
      const body = `filter=${'nane=1&'.repeat(9_000)}`
      return flood(target, signal, 32, () => ({ method: 'QUERY', path: products, headers: form, body }))
    },
  },
  {
    name: 'connections',
    run: (target, signal) =>
      keepOpen(
        target,
        signal,
        target.isQuick ? 2_000 : 9_000,
        'GET /livez HTTP/1.1\r\nHost: x.localhost\r\n\r\n',
        'GET /livez HTTP/1.1\r\nHost: x.localhost\r\n\r\n',
      ),
  },
  {
    name: 'half_requests',
    run: (target, signal) => {
      const { host, key } = target.attacker
      const head = `POST ${products} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{`
      return keepOpen(target, signal, 1_500, head, ' ')
    },
  },
  {
    // Its keys were used when it had 20 records, so that its reads are planned for an account of that size.
    name: 'read_ahead',
    prepare: async (target) => {
      await resize(target, 20)
      for (const caller of target.grower.callers)
        await ask(target, caller, { path: `${products}?filter=${growth}` })
      await resize(target, target.isQuick ? 50_000 : 400_000)
    },
    run: async (target, signal) => {
      const { callers } = target.grower
      await Promise.all(
        callers.map((caller, at) =>
          flood(
            target,
            signal,
            1,
            (n) => ({ path: `${products}?filter=${growth}&limit=${10 + at + (n % 900)}` }),
            caller,
          ),
        ),
      )
    },
  },
]

/** The account has this number of products afterwards. */
async function resize({ databaseUrl, grower }: Target, records: number): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    const { accountId } = grower
    await client.query('delete from product where account_id = $1 and id > $2', [accountId, records])
    await client.query(
      `insert into product select $1, g, 1, 'P ' || g, null, g % 100, 0, true, null, null, null, now(), now()
       from generate_series(1, $2::int) g on conflict do nothing`,
      [accountId, records],
    )
    await client.query(
      `update tally set version = version + 1, total = $2, last_id = $2 where account_id = $1 and resource = 'product'`,
      [accountId, records],
    )
    await client.query('analyze product')
  })
}
