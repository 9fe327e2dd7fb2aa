import type pg from 'pg'

/** How often statements for the products of an account were run. Needs the extension pg_stat_statements. */
export async function productReads(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ calls: number }>(
    `select coalesce(sum(s.calls), 0)::int as calls from pg_stat_statements s join pg_database d on d.oid = s.dbid
     where d.datname = current_database() and s.query ~ '(from|left join) product r?'`,
  )
  return rows[0]?.calls ?? 0
}
