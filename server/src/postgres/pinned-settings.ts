/**
 * What an administrator can set for a server, a database or a role, and what would change the meaning of our statements, or of
 * the text of a value. Every connection sets them, so that a result never depends on it. Each value is PostgreSQL's default.
 */
export const pinnedSettings: Readonly<Record<string, string>> = {
  // Off: NULL in an array is the text "NULL", which creates would store.
  array_nulls: 'on',
  // Off: a backslash in a constant is an escape.
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  // Above 0: a search in a trigram index returns a random part of the matches.
  gin_fuzzy_search_limit: '0',
  // Serializable, repeatable read: a writer that waited for the lock of a tally fails, because its snapshot is older.
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  // Error: the warning that a commit did not wait for its standby would not arrive.
  client_min_messages: 'notice',
  exit_on_error: 'off',
  bytea_output: 'hex',
  extra_float_digits: '1',
  quote_all_identifiers: 'off',
  // Only the form of output: the order of day and month may be any, because dates are read and written in ISO form.
  DateStyle: 'ISO',
}

/** Set as well, but a connection is not rejected if a pooler drops them: statements name their time zone, and a timeout only fails one. */
export const pinnedDefaults: Readonly<Record<string, string>> = {
  TimeZone: 'UTC',
  IntervalStyle: 'postgres',
  plan_cache_mode: 'auto',
  // A write must never be cancelled. Reads, locks and abandoned transactions have timeouts of their own where they need one.
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
}

export function isInForce(name: string, wanted: string | undefined, is: string): boolean {
  return name === 'DateStyle' ? is.startsWith(`${wanted},`) : is === wanted
}
