import type pg from 'pg'
import { limits } from '../limits.ts'
import type { AccountScope } from '../scope.ts'
import { generateKey, hashOfKey, newKeyId, type Scope } from './key.ts'

export interface Key {
  readonly keyId: string
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  readonly state: 'valid' | 'expired' | 'revoked'
}

/** The one time that the key itself is there: only its hash is kept. */
export interface NewKey extends Key {
  readonly key: string
}

export interface KeyWish {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly expiresAt: Date | null
}

const columns = `key_id as "keyId", name, scopes, created_at as "createdAt", expires_at as "expiresAt",
  revoked_at as "revokedAt",
  case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' else 'valid' end as state`

export async function createKey(
  client: pg.ClientBase,
  { accountId }: AccountScope,
  wish: KeyWish,
): Promise<NewKey> {
  const length = Array.from(wish.name).length
  if (length < 1 || length > limits.keyNameCharactersMax || /\p{Cc}/u.test(wish.name)) {
    throw new Error(
      `The name of a key has 1 to ${limits.keyNameCharactersMax} characters and no control characters.`,
    )
  }
  if (wish.scopes.length === 0) throw new Error('A key needs at least one scope.')
  const key = generateKey()
  const { rows } = await client.query<Key>(
    `insert into api_key (account_id, key_id, hash, name, scopes, expires_at)
     values ($1, $2, $3, $4, $5, $6) returning ${columns}`,
    [accountId, newKeyId(), hashOfKey(key), wish.name, [...new Set(wish.scopes)], wish.expiresAt],
  )
  if (rows[0] === undefined) throw new Error('The key was not kept.')
  return { ...rows[0], key }
}

/** Newest first. */
export async function listKeys(
  client: pg.ClientBase,
  { accountId }: AccountScope,
  limit: number,
): Promise<Key[]> {
  const { rows } = await client.query<Key>(
    `select ${columns} from api_key where account_id = $1 order by created_at desc, key_id limit $2`,
    [accountId, limit],
  )
  return rows
}

/** Holds from the next request on. A key revoked before keeps the moment it was. */
export async function revokeKey(
  client: pg.ClientBase,
  { accountId }: AccountScope,
  keyId: string,
): Promise<Key> {
  const { rows } = await client.query<Key>(
    `update api_key set revoked_at = coalesce(revoked_at, now()) where account_id = $1 and key_id = $2
     returning ${columns}`,
    [accountId, keyId],
  )
  if (rows[0] === undefined) {
    throw new Error(
      `The account has no key ${keyId}. \`quartermaster key list --account NAME\` shows those it has.`,
    )
  }
  return rows[0]
}
