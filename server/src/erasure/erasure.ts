import type { Actor } from '../accounts/audit.ts'
import type { ResourceName } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import type { Database } from '../postgres/database.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, type Statement, sql, value } from '../sql.ts'

/** A row of the table: what remains to be done, and what was found. */
export interface Erasure extends AccountScope {
  readonly resource: ResourceName
  readonly id: string
  readonly version: string
  readonly requestedAt: Date
  readonly requestedBy: Actor
  readonly finishedAt: Date | null
  /** Null when it has finished. */
  readonly terms: readonly string[] | null
  readonly counts: Readonly<Record<string, number>>
  /** Whether every process has written what it had still to write when the record was removed. */
  readonly isSettled: boolean
}

export type ErasureKey = Pick<Erasure, 'accountId' | 'resource' | 'id'>

function columns(settleMs: number): Fragment {
  return sql`account_id as "accountId", resource, id::text as id, version::text as version, requested_at as "requestedAt",
  requested_by as "requestedBy", finished_at as "finishedAt", terms, counts,
  requested_at < now() - make_interval(secs => ${value(settleMs / 1000)}::float8) as "isSettled"`
}

export function erasureStatement(key: ErasureKey, settleMs: number): Statement {
  return sql`select ${columns(settleMs)} from erasure where ${isErasure(key)}`.statement('activity')
}

/** Those that have not finished. */
export function openErasures(settleMs: number): Statement {
  return sql`select ${columns(settleMs)} from erasure where terms is not null
order by account_id limit ${value(limits.erasuresOfSweep)}::int`.statement('activity')
}

/** Begins an erasure, or repeats it: the values that are known are kept until it has finished. */
export function storeErasure(
  { accountId, resource, id }: ErasureKey,
  version: Fragment,
  by: Actor,
  terms: readonly string[],
): Statement {
  return sql`insert into erasure as e (account_id, resource, id, version, requested_by, terms)
select t.account_id, t.resource, ${value(id)}::bigint, ${version}, ${value(JSON.stringify(by))}::jsonb, ${value(terms)}::text[]
from tally t where t.account_id = ${value(accountId)}::bigint and t.resource = ${value(resource)}::text
on conflict (account_id, resource, id) do update set version = excluded.version, requested_at = now(), requested_by = excluded.requested_by,
  finished_at = null, terms = array(select unnest(excluded.terms) union select unnest(e.terms))`.statement(
    'delete',
  )
}

export function isErasure({ accountId, resource, id }: ErasureKey): Fragment {
  return sql`account_id = ${value(accountId)}::bigint and resource = ${value(resource)}::text and id = ${value(id)}::bigint`
}

/** Adds to a count, in the transaction of what is counted. */
export function countErased(key: ErasureKey, kind: string, rows: number): Statement {
  const name = value(kind)
  return sql`update erasure set counts = counts
  || jsonb_build_object(${name}::text, coalesce((counts ->> ${name}::text)::bigint, 0) + ${value(rows)}::bigint)
where ${isErasure(key)}`.statement('activity')
}

/** Whether records were erased after a version of the resource: an export of that version may still contain them. */
export function wasErasedSince(database: Database) {
  return async (
    { scope, resource }: { readonly scope: AccountScope; readonly resource: ResourceName },
    version: string,
  ): Promise<boolean> => {
    const rows = await database.read<{ id: string }>(
      sql`select id from erasure where account_id = ${value(scope.accountId)}::bigint and resource = ${value(resource)}::text
  and version > ${value(version)}::bigint limit 1`.statement('activity'),
    )
    return rows.length > 0
  }
}

/** As the command line shows it. */
export function erasureJson({ resource, id, requestedAt, finishedAt, counts }: Erasure) {
  return {
    resource,
    id: Number(id),
    requested_at: requestedAt.toISOString(),
    finished_at: finishedAt?.toISOString() ?? null,
    counts,
  }
}
