import { generateKey } from '../../../server/src/accounts/key-format.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check } from '../check.ts'
import { Client } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Service } from '../service.ts'
import { Managed } from './manage.ts'

/** Statements of background tasks, which are not caused by a request. */
const backgroundStatements =
  /^delete from (?:request|usage)\b|^select account_id as id from account\b|\bpg_control_system\b/

/** A key with a wrong checksum is rejected without a database query. */
export const wrongChecksum: Check = {
  name: 'wrong_checksum',
  bound: '0 queries',
  async run(context) {
    const service = await Service.start({
      shared_preload_libraries: 'pg_stat_statements',
      'pg_stat_statements.max': '10000',
    })
    const client = new Client(16)
    try {
      const { url } = service.postgres
      await withClient(url, (owner) => owner.query('create extension pg_stat_statements'))
      const acme = new Managed(client, 'acme', await service.account('acme'))
      const { port } = await service.serve()
      const path = '/api/v1/inventory/product'
      const withValidChecksum = await queriesDuring(url, () => acme.get(port, path, generateKey()))
      const count = context.size(10_000, 500)
      let rejected = 0
      const queries = await queriesDuring(url, () =>
        inParallel(count, 16, async () => {
          const { status } = await acme.get(port, path, withWrongChecksum(generateKey()))
          if (status === 401) rejected++
        }),
      )
      return {
        value: `${queries} queries, ${grouped(rejected)} of ${grouped(count)} rejected`,
        samples: Math.min(count, withValidChecksum),
        ok: queries === 0 && rejected === count && withValidChecksum > 0,
        note: `an unknown key with a valid checksum caused ${withValidChecksum} queries`,
      }
    } finally {
      client.close()
      await service.stop()
    }
  },
}

/** The number of queries that the server sends during `work`. */
async function queriesDuring(url: string, work: () => Promise<unknown>): Promise<number> {
  const before = await calls(url)
  await work()
  const after = await calls(url)
  return [...after].reduce((sum, [query, count]) => sum + count - (before.get(query) ?? 0), 0)
}

async function calls(url: string): Promise<Map<string, number>> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ query: string; calls: number }>(
      `select s.query, sum(s.calls)::int as calls from pg_stat_statements s join pg_roles r on r.oid = s.userid
       where r.rolname = 'quartermaster_server' group by s.query`,
    ),
  )
  return new Map(
    rows.filter(({ query }) => !backgroundStatements.test(query)).map((row) => [row.query, row.calls]),
  )
}

/** Changes the last character, which belongs to the checksum. */
function withWrongChecksum(key: string): string {
  return `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
}
