import type pg from 'pg'
import { type ResourceName, resources } from '../../../catalog/resources.ts'
import { limits } from '../../../limits/limits.ts'
import type { Connection } from '../../../postgres/connection.ts'
import { inTransaction } from '../../../postgres/transaction.ts'
import type { AccountScope } from '../../../scope.ts'
import { type Fragment, identifier, type Statement, sql, value } from '../../../sql.ts'

/** The stored tally (null if the row is missing) and the real counts. */
export interface TallyCount {
  readonly resource: ResourceName
  readonly version: number | null
  readonly total: number | null
  readonly last_id: number | null
  /** Null unless another system assigns ids. */
  readonly own_last_id: number | null
  readonly counted: number
  readonly max_id: number
  readonly max_version: number
}

/** One statement per resource, so that the tally and the count are from one snapshot. */
export async function countTallies(client: pg.ClientBase, scope: AccountScope): Promise<TallyCount[]> {
  const counts: TallyCount[] = []
  for (const { name } of Object.values(resources))
    counts.push(...(await run(client, tallyStatement(scope, name))))
  return counts
}

/** Describes the differences; empty if the tally is correct. */
export function tallyFaults(tally: TallyCount): string[] {
  const { version, total, last_id, counted, max_id, max_version } = tally
  if (version === null || total === null || last_id === null) return ['the row is missing']
  return [
    ...(total === counted ? [] : [`total is ${total}, but there are ${counted} records`]),
    ...(last_id >= max_id ? [] : [`last_id is ${last_id}, but the highest id is ${max_id}`]),
    ...ownIdFaults(tally, last_id),
    ...(version >= max_version ? [] : [`version is ${version}, but a record has ${max_version}`]),
  ]
}

/** If another system assigns ids, those from 2^32 on are assigned here, and `own_last_id` must have reached the highest that was. */
function ownIdFaults({ own_last_id: ownLastId, max_id: maxId }: TallyCount, lastId: number): string[] {
  const assigned = Math.max(lastId, maxId)
  if (ownLastId === null || assigned <= Math.max(ownLastId, limits.externalIdMax)) return []
  return [`own_last_id is ${ownLastId}, but ${assigned} was assigned here, so ids would be assigned again`]
}

/** Takes the lock that every write takes, so that nothing changes between the count and the update. */
export async function repairTally(
  client: Connection,
  scope: AccountScope,
  resource: ResourceName,
): Promise<void> {
  const account = value(scope.accountId)
  const name = value(resource)
  const row = sql`account_id = ${account}::bigint and resource = ${name}::text`
  await inTransaction(client, async () => {
    await run(
      client,
      sql`insert into tally (account_id, resource) values (${account}::bigint, ${name}::text) on conflict do nothing`,
    )
    await run(client, sql`select from tally where ${row} for update`)
    const [found] = await run(client, tallyStatement(scope, resource))
    if (found === undefined) return
    // The version always increases, so that responses cached with the wrong total are not used again.
    await run(
      client,
      sql`update tally set version = greatest(version, ${value(found.max_version)}::bigint) + 1,
        total = ${value(found.counted)}::bigint, last_id = greatest(last_id, ${value(found.max_id)}::bigint),
        own_last_id = case when own_last_id is not null then greatest(own_last_id, last_id, ${value(found.max_id)}::bigint) end
        where ${row}`,
    )
  })
}

function tallyStatement(scope: AccountScope, resource: ResourceName): Fragment {
  const account = value(scope.accountId)
  const name = value(resource)
  return sql`select ${name}::text as resource, t.version::float8 as version, t.total::float8 as total,
  t.last_id::float8 as last_id, t.own_last_id::float8 as own_last_id, r.counted::float8 as counted, r.max_id::float8 as max_id,
  r.max_version::float8 as max_version
from (
  select count(*) as counted, coalesce(max(id), 0) as max_id, coalesce(max(version), 0) as max_version
  from ${identifier(resource)} where account_id = ${account}::bigint
) r
left join tally t on t.account_id = ${account}::bigint and t.resource = ${name}::text`
}

async function run(client: pg.ClientBase, fragment: Fragment): Promise<TallyCount[]> {
  const { text, values }: Statement = fragment.statement()
  return (await client.query<TallyCount>(text, [...values])).rows
}
