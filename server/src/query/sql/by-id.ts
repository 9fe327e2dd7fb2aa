import { type Fragment, sql, type Value } from '../../sql.ts'

/**
 * The records of an account with given ids, each looked up by the primary key. With "id = any(…)", a planner that expects few records of
 * the account reads all of them, however many they are: a generic plan expects as many as an average account has.
 */

/** A relation with these columns of the records. `ids`: an array. */
export function recordsById(table: Fragment, account: Value, ids: Fragment, columns: Fragment): Fragment {
  return recordsIn(table, account, sql`unnest(${ids})`, columns)
}

/** The same for ids that a select returns, in parentheses. */
export function recordsIn(table: Fragment, account: Value, ids: Fragment, columns: Fragment): Fragment {
  return sql`${ids} wanted(wanted_id) cross join lateral (
    select ${columns} from ${table} where account_id = ${account}::bigint and id = wanted_id offset 0) r`
}

/** A condition on these records, for an update or a delete that holds the lock of the tally: nobody else can move them. */
export function hasAddressOf(table: Fragment, account: Value, ids: Fragment): Fragment {
  return sql`ctid = any(array(select address from ${recordsById(table, account, ids, sql`ctid as address`)}))
  and (account_id = ${account}::bigint) is true`
}
