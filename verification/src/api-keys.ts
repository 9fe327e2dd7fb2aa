import type pg from 'pg'
import { generateKey, hashOfKey, newKeyId, type Scope, scopes } from '../../server/src/accounts/key-format.ts'

const keysPerStatement = 10_000

/**
 * Inserts one new key for each account, in the order of the accounts. `quartermaster key create` starts a process for
 * every key, which takes too long for thousands of accounts.
 */
export async function insertKeys(
  client: pg.Client,
  accountIds: readonly string[],
  keyScopes: readonly Scope[] = scopes,
): Promise<string[]> {
  const keys = accountIds.map(() => generateKey())
  for (let at = 0; at < keys.length; at += keysPerStatement) {
    const batch = keys.slice(at, at + keysPerStatement)
    await client.query(
      `insert into api_key (account_id, key_id, hash, name, scopes)
       select account_id, key_id, decode(hash, 'hex'), 'verification', $4::text[]
       from unnest($1::bigint[], $2::text[], $3::text[]) k(account_id, key_id, hash)`,
      [
        accountIds.slice(at, at + keysPerStatement),
        batch.map(() => newKeyId()),
        batch.map(hashOfKey),
        [...keyScopes],
      ],
    )
  }
  return keys
}
