import { keyState } from '../key-state.ts'
import { placeholder, type Statement, sql } from '../sql.ts'
import type { Access } from './verifications.ts'

/** The key of a request, as it sees itself. */
export interface OwnKeyRow {
  /** A JSON object. */
  readonly self: string
}

const account = placeholder()
const key = placeholder()

const template = sql`select json_build_object('account', account.name, 'key_id', key_id, 'name', api_key.name,
  'scopes', scopes, 'state', ${keyState},
  'created_at', to_char(api_key.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'expires_at', to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text as self
from api_key join account using (account_id)
where account_id = ${account}::bigint and key_id = ${key}::text`.template(
  [account, key],
  'account',
  'pipelined',
)

export function ownKeyStatement({ accountId, keyId }: Access): Statement {
  return template([accountId, keyId])
}
