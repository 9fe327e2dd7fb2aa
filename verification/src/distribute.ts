import { withClient } from '../../server/src/postgres/client.ts'
import { runAcceptanceTests } from './acceptance-tests.ts'
import type { Check } from './check.ts'
import { Service } from './service.ts'

const accountTables = [
  'api_key',
  'audit',
  'cors_origins',
  'field',
  'tally',
  'idempotency',
  'tombstone',
  'webhook',
  'delivery',
  'product_before',
  'partner_before',
  'company_before',
  'product',
  'partner',
  'company',
  'request',
  'usage',
]

/**
 * Every statement of a complete acceptance run that uses a table of accounts restricts each of these tables to one and
 * the same account_id. A database distributed by account_id therefore routes it to one shard.
 */
export const oneAccount: Check = {
  name: 'one_account_each',
  bound: '= all statements',
  async run(context) {
    const service = await Service.start({
      shared_preload_libraries: 'pg_stat_statements',
      'pg_stat_statements.max': '10000',
      'pg_stat_statements.track': 'all',
    })
    try {
      const { url } = service.postgres
      await withClient(url, (client) => client.query('create extension pg_stat_statements'))
      context.log('running the acceptance tests with pg_stat_statements')
      const { output, code } = await runAcceptanceTests(url)
      if (code !== 0) throw new Error(`the acceptance tests exited with ${code}:\n${output.slice(-4000)}`)
      for (const [line] of output.matchAll(/^acceptance: .*/gm)) context.log(line)
      const { rows } = await withClient(url, (client) =>
        client.query<{ query: string }>(
          `select s.query from pg_stat_statements s join pg_roles r on r.oid = s.userid
           where r.rolname in ('quartermaster_server', 'quartermaster_writer')`,
        ),
      )
      const statements = rows
        .map(({ query }) => query)
        .filter((query) => tablesIn(query) > 0 && !isForSeveralAccounts(query))
      const wrong = statements.filter((query) => !namesOneAccount(query))
      return {
        value: `${statements.length - wrong.length} of ${statements.length}`,
        samples: statements.length,
        ok: wrong.length === 0 && statements.length > 100,
        note: wrong.slice(0, 5).join('\n\n'),
      }
    } finally {
      await service.stop()
    }
  },
}

/**
 * The exceptions, which handle a batch of accounts and therefore several shards: reading the keys and tallies of all
 * waiting requests, the origins that their accounts allow, the tallies of clients that wait for changes and of webhooks, the
 * sweeps over all webhooks and over deleted fields, writing the request log and usage after the responses, deleting what has expired of them and of
 * results for idempotency keys, and finding accounts with expired before-images and tombstones.
 */
export function isForSeveralAccounts(query: string): boolean {
  // The first inserted column is the account.
  if (/^insert into (?:request|usage)\b/.test(query)) return /from unnest\(\$\d+::bigint\[\]/.test(query)
  if (
    /^delete from (?:request|usage|delivery|idempotency) where account_id = any\(\$1::bigint\[\]\)/.test(
      query,
    )
  )
    return true
  if (
    /^with recursive a as \(\s*\(select account_id from \w+_before where account_id > \$1::bigint/.test(query)
  )
    return true
  // The same on Citus.
  if (/^select account_id, min\(at\) < now\(\) - .* from \w+_before\s/.test(query)) return true
  if (
    /^select t\.account_id, \(select b\.at < now\(\) - make_interval\(days => \$1::int\)\s+from tombstone b where b\.account_id = t\.account_id/.test(
      query,
    )
  )
    return true
  if (/ from field\s+where \(account_id, resource, number\) > \(/.test(query)) return true
  if (/from webhook where (?:account_id = any\(\$1::bigint\[\]\)|\(account_id, id\) > \()/.test(query))
    return true
  if (
    /from unnest\(\$1::text\[\], \$2::text\[\]\) .*\sleft join account a on a\.name = q\.name\s+left join cors_origins c on c\.account_id = a\.account_id\s/.test(
      query,
    )
  )
    return true
  return (
    /from unnest\(\$1::bigint\[\]/.test(query) && /\b[kt]\.account_id = any\(\$1::bigint\[\]\)/.test(query)
  )
}

export function tablesIn(query: string): number {
  const pattern = new RegExp(`\\b(?:from|join|update|into) (?:${accountTables.join('|')})\\b`, 'g')
  return query.match(pattern)?.length ?? 0
}

/**
 * An `insert into` has no condition: its account is the value of its first column. COPY has no parameters: pg_stat_statements shows
 * each occurrence of its account as a parameter of its own. The tests of exports compare these texts with one parameter.
 */
export function namesOneAccount(query: string): boolean {
  const conditions = [...query.matchAll(/\baccount_id = (\$\d+|'\d+')::bigint/g)].map((match) => match[1])
  const inserts = [
    ...query.matchAll(
      /\binsert into \w+(?: as \w+)? \(account_id,[^)]*\)\s*(?:values \(|select )(\$\d+)::bigint/g,
    ),
  ].map((match) => match[1])
  const accounts = [...conditions, ...inserts]
  const isOne = new Set(accounts).size === 1 || (query.startsWith('copy (') && accounts.length > 0)
  return accounts.length >= tablesIn(query) && isOne
}
