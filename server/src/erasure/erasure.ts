import type { Actor } from '../accounts/audit.ts'
import type { ResourceName } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import type { Database } from '../postgres/database.ts'
import type { Transaction } from '../postgres/transaction.ts'
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

/** Those that have not finished: of each account the oldest ones, so that none waits for all of another one. */
export function openErasures(settleMs: number): Statement {
  const places = sql`select account_id, resource, id,
    row_number() over (partition by account_id order by requested_at, resource, id) as place from erasure where terms is not null`
  return sql`select ${columns(settleMs)} from (select * from (${places}) p
  where place <= ${value(limits.erasuresOfAccount)}::int order by place, account_id limit ${value(limits.erasuresOfSweep)}::int) p
join erasure using (account_id, resource, id) order by place, account_id`.statement('activity')
}

/** What an erasure is begun with. */
export interface NewErasure extends ErasureKey {
  readonly version: string
  readonly by: Actor
  readonly terms: readonly string[]
}

export function insertErasure({ accountId, resource, id, version, by, terms }: NewErasure): Statement {
  return sql`insert into erasure (account_id, resource, id, version, requested_by, terms)
values (${value(accountId)}::bigint, ${value(resource)}::text, ${value(id)}::bigint, ${value(version)}::bigint,
  ${value(JSON.stringify(by))}::jsonb, ${value(terms)}::text[])`.statement('delete')
}

/** Repeats it. */
export function updateErasure({ version, by, terms, ...key }: NewErasure): Statement {
  return sql`update erasure set version = ${value(version)}::bigint, requested_at = now(), requested_by = ${value(JSON.stringify(by))}::jsonb,
  finished_at = null, terms = ${value(terms)}::text[] where ${isErasure(key)}`.statement('delete')
}

export function isErasure({ accountId, resource, id }: ErasureKey): Fragment {
  return sql`account_id = ${value(accountId)}::bigint and resource = ${value(resource)}::text and id = ${value(id)}::bigint`
}

/** Adds to a count, in the transaction of what is counted. */
export async function countErased(
  { run }: Pick<Transaction, 'run'>,
  key: ErasureKey,
  kind: string,
  rows: number,
): Promise<void> {
  const [row] = await run<Pick<Erasure, 'counts'>>(
    sql`select counts from erasure where ${isErasure(key)} for update`.statement('activity'),
  )
  if (row === undefined) return
  const counts = JSON.stringify({ ...row.counts, [kind]: (row.counts[kind] ?? 0) + rows })
  await run(
    sql`update erasure set counts = ${value(counts)}::jsonb where ${isErasure(key)}`.statement('activity'),
  )
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
