import type pg from 'pg'
import { Failure } from '../errors.ts'
import { excerpt } from '../faults.ts'
import { type KeyState, keyIsValid, keyState } from '../key-state.ts'
import { limits } from '../limits.ts'
import type { Transaction } from '../postgres/database.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, type Statement, sql, value } from '../sql.ts'
import { type Actor, auditStatement, type Change } from './audit.ts'
import { generateKey, hashOfKey, hasKey, holdsKey, isKeyId, newKeyId, type Scope } from './key-format.ts'

export interface Key {
  readonly keyId: string
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly state: KeyState
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  /** The key that took its place. */
  readonly replacedBy: string | null
  /** A day, in UTC. */
  readonly lastUsedOn: string | null
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

/** What makes a create safe to send again: it makes no second key. */
export interface KeyIdempotency {
  readonly key: string
  readonly requestHash: Buffer
}

export interface Rotation {
  /** How long the old key goes on; 0 revokes it at once. */
  readonly overlapSeconds: number
  /** Of the new key. Undefined: it lives as long as the old one was made to. */
  readonly expiresAt: Date | null | undefined
}

const columns = sql`key_id as "keyId", name, scopes, ${keyState} as state, created_at as "createdAt",
  expires_at as "expiresAt", revoked_at as "revokedAt", rotated_to as "replacedBy",
  to_char(last_used_on, 'YYYY-MM-DD') as "lastUsedOn"`

export async function createKey(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  wish: KeyWish,
  idempotency?: KeyIdempotency,
): Promise<NewKey> {
  checkWish(wish)
  await transaction.run(lockStatement(scope))
  if (idempotency !== undefined) await refuseRepeated(transaction, scope, idempotency)
  const made = await insertKey(transaction, scope, wish, idempotency)
  await note(transaction, scope, actor, { action: 'key.create', subject: made.keyId, details: told(made) })
  return made
}

/** Newest first. */
export async function listKeys(client: pg.ClientBase, scope: AccountScope, limit: number): Promise<Key[]> {
  const { text, values } =
    sql`select ${columns} from api_key where account_id = ${value(scope.accountId)}::bigint
order by created_at desc, key_id limit ${value(limit)}::int`.statement()
  const { rows } = await client.query<Key>(text, [...values])
  return rows
}

/**
 * A new key of the same name and scopes takes the place of the old one, which goes on until the overlap ends. Only an
 * active key is rotated, so that a rotation sent twice does not make two.
 */
export async function rotateKey(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  keyId: string,
  rotation: Rotation,
): Promise<{ readonly made: NewKey; readonly old: Key }> {
  if (!isKeyId(keyId)) throw unknownKey(keyId)
  await transaction.run(lockStatement(scope))
  const [found] = await transaction.run<Key>(keyStatement(scope, keyId))
  if (found === undefined) throw unknownKey(keyId)
  if (found.state !== 'active') throw notActive(found)
  const { name, scopes } = found
  const made = await insertKey(transaction, scope, { name, scopes, expiresAt: expiryOf(found, rotation) })
  const [old] = await transaction.run<Key>(
    replaceStatement(scope, keyId, made.keyId, rotation.overlapSeconds),
  )
  if (old === undefined) throw unknownKey(keyId)
  const until =
    rotation.overlapSeconds === 0
      ? 'the old one is revoked'
      : `the old one until ${dateOrNever(old.expiresAt)}`
  const details = `to ${made.keyId}: ${told(made)}; ${until}`
  await note(transaction, scope, actor, { action: 'key.rotate', subject: keyId, details })
  return { made, old }
}

/** Holds from the next request on. A key revoked before keeps the moment it was, and nothing is written. */
export async function revokeKey(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  keyId: string,
): Promise<Key> {
  if (!isKeyId(keyId)) throw unknownKey(keyId)
  await transaction.run(lockStatement(scope))
  const [revoked] = await transaction.run<Key>(revokeStatement(scope, keyId))
  if (revoked !== undefined) {
    await note(transaction, scope, actor, { action: 'key.revoke', subject: keyId, details: revoked.name })
    return revoked
  }
  const [found] = await transaction.run<Key>(keyStatement(scope, keyId))
  if (found === undefined) throw unknownKey(keyId)
  return found
}

/** As the API and the command line show it. */
export function keyJson(key: Key) {
  return {
    key_id: key.keyId,
    name: key.name,
    scopes: key.scopes,
    state: key.state,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    rotated_to: key.replacedBy,
    last_used_on: key.lastUsedOn,
  }
}

function checkWish({ name, scopes }: KeyWish): void {
  const length = Array.from(name).length
  if (holdsKey(name)) throw new Failure('body_invalid', `The name of a key ${hasKey}`)
  if (length < 1 || length > limits.keyNameCharactersMax || /\p{Cc}/u.test(name) || !name.isWellFormed()) {
    throw new Failure(
      'body_invalid',
      `The name of a key has 1 to ${limits.keyNameCharactersMax} characters and no control characters.`,
    )
  }
  if (scopes.length === 0) throw new Failure('body_invalid', 'A key needs at least one scope.')
}

/** The old key's own lifetime again, from now. */
function expiryOf(old: Key, { expiresAt }: Rotation): Date | null {
  if (expiresAt !== undefined) return expiresAt
  if (old.expiresAt === null) return null
  return new Date(Date.now() + old.expiresAt.getTime() - old.createdAt.getTime())
}

async function insertKey(
  transaction: Transaction,
  scope: AccountScope,
  wish: KeyWish,
  idempotency?: KeyIdempotency,
): Promise<NewKey> {
  const [count] = await transaction.run<{ valid: number; kept: number }>(countStatement(scope))
  if (count !== undefined && count.valid >= limits.keysValidMax) {
    throw new Failure(
      'keys_exhausted',
      `The account has ${count.valid} valid keys, as many as it may have. Revoke one that is not used any more.`,
    )
  }
  if (count !== undefined && count.kept >= limits.keysStoredMax) await transaction.run(sweepStatement(scope))
  const key = generateKey()
  const [made] = await transaction.run<Key>(insertStatement(scope, hashOfKey(key), wish, idempotency))
  if (made === undefined) throw new Error('the key was not kept')
  return { ...made, key }
}

async function refuseRepeated(
  transaction: Transaction,
  scope: AccountScope,
  { key, requestHash }: KeyIdempotency,
): Promise<void> {
  const [before] = await transaction.run<{ keyId: string; same: boolean }>(
    sql`select key_id as "keyId", request_hash = ${value(requestHash)}::bytea as same from api_key
where account_id = ${value(scope.accountId)}::bigint and idempotency_key = ${value(key)}::text
  and created_at > now() - make_interval(hours => ${value(limits.idempotencyHours)}::int)`.statement(),
  )
  if (before === undefined) return
  if (!before.same) {
    throw new Failure(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another request body. Use a new key for a new request.',
    )
  }
  throw new Failure(
    'key_already_created',
    `This request made the key ${before.keyId} before. It was shown then and is not kept, so it cannot be shown again. ` +
      `If that answer was lost, revoke ${before.keyId} and send the request with another Idempotency-Key.`,
  )
}

async function note(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  change: Change,
): Promise<void> {
  await transaction.run(auditStatement(scope, actor, change))
}

/** Changes of an account's keys go one after the other, so that counting them means something. */
function lockStatement({ accountId }: AccountScope): Statement {
  return sql`select pg_advisory_xact_lock(hashtextextended('api_key', ${value(accountId)}::bigint))`.statement()
}

function ofKey(scope: AccountScope, keyId: string): Fragment {
  return sql`account_id = ${value(scope.accountId)}::bigint and key_id = ${value(keyId)}::text`
}

function keyStatement(scope: AccountScope, keyId: string): Statement {
  return sql`select ${columns} from api_key where ${ofKey(scope, keyId)}`.statement()
}

function countStatement({ accountId }: AccountScope): Statement {
  return sql`select count(*) filter (where ${keyIsValid})::int as valid, count(*)::int as kept
from api_key where account_id = ${value(accountId)}::bigint`.statement()
}

function insertStatement(
  { accountId }: AccountScope,
  hash: string | undefined,
  { name, scopes, expiresAt }: KeyWish,
  idempotency: KeyIdempotency | undefined,
): Statement {
  return sql`insert into api_key (account_id, key_id, hash, name, scopes, expires_at, idempotency_key, request_hash)
values (${value(accountId)}::bigint, ${value(newKeyId())}::text, decode(${value(hash)}::text, 'hex'), ${value(name)}::text,
  ${value([...new Set(scopes)])}::text[], ${value(expiresAt)}::timestamptz, ${value(idempotency?.key)}::text,
  ${value(idempotency?.requestHash)}::bytea)
returning ${columns}`.statement()
}

function replaceStatement(scope: AccountScope, keyId: string, by: string, overlapSeconds: number): Statement {
  const end =
    overlapSeconds === 0
      ? sql`revoked_at = now()`
      : sql`expires_at = least(expires_at, now() + make_interval(secs => ${value(overlapSeconds)}::int))`
  return sql`update api_key set rotated_to = ${value(by)}::text, ${end} where ${ofKey(scope, keyId)}
returning ${columns}`.statement()
}

function revokeStatement(scope: AccountScope, keyId: string): Statement {
  return sql`update api_key set revoked_at = now() where ${ofKey(scope, keyId)} and revoked_at is null
returning ${columns}`.statement()
}

/** The longest ended ones: what they did stays in the audit. */
function sweepStatement({ accountId }: AccountScope): Statement {
  const account = value(accountId)
  return sql`delete from api_key where account_id = ${account}::bigint and key_id in (
  select key_id from api_key where account_id = ${account}::bigint and not (${keyIsValid})
  order by coalesce(revoked_at, expires_at), key_id limit ${value(limits.keysSweepRows)}::int
)`.statement()
}

function unknownKey(keyId: string): Failure {
  return new Failure('record_unknown', `The account has no key ${JSON.stringify(excerpt(keyId))}.`)
}

function notActive({ keyId, state, replacedBy }: Key): Failure {
  const instead = replacedBy === null ? '' : ` The key ${replacedBy} took its place.`
  return new Failure(
    'key_not_active',
    `The key ${keyId} is ${state}; only an active key can be rotated.${instead}`,
  )
}

function told({ name, scopes, expiresAt }: Key): string {
  return `${name}; ${scopes.join(', ')}; expires ${dateOrNever(expiresAt)}`
}

function dateOrNever(moment: Date | null): string {
  return moment === null ? 'never' : moment.toISOString()
}
