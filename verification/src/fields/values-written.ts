import type pg from 'pg'

/**
 * Whether the table of values of declared fields has those of all records. Until then, or if an account has few records, a filter is
 * evaluated for each record.
 */
export async function areValuesWritten(
  client: pg.ClientBase,
  resource: string,
  accountName: string,
): Promise<boolean> {
  const records = client.escapeIdentifier(resource)
  const { rows } = await client.query(
    `select from value_index i join account using (account_id)
     where account.name = $1 and i.resource = $2
       and not exists (select from ${records} r where r.account_id = i.account_id and (r.version, r.id) > (i.version, i.id))
       and not exists (select from tombstone d where d.account_id = i.account_id and d.resource = i.resource
         and (d.version, d.id) > (i.version, i.id))`,
    [accountName, resource],
  )
  return rows.length > 0
}
