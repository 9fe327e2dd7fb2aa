import type pg from 'pg'
import { Failure } from '../errors/errors.ts'
import { excerpt } from '../errors/faults.ts'
import { type KeyState, keyIsValid, keyState } from '../key-state.ts'
import { limits } from '../limits/limits.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, type Statement, sql, value } from '../sql.ts'
import { type Actor, auditStatement, requireAuditQuota } from './audit.ts'
import {
  containsKey,
  containsKeyMessage,
  generateKey,
  hashOfKey,
  isKeyId,
  newKeyId,
  type Scope,
} from './key-format.ts'

export interface Key {
  readonly keyId: string
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly state: KeyState
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  /** The key that replaced it when it was rotated. */
  readonly replacedBy: string | null
  /** A date in UTC. */
  readonly lastUsedOn: string | null
}

/** With the key itself, which is returned only when it is created: the database stores its hash. */
export interface NewKey extends Key {
  readonly key: string
}

export interface KeyParameters {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly expiresAt: Date | null
}

/** The Idempotency-Key of a request, which prevents a retry from creating a second key. */
export interface KeyIdempotency {
  readonly key: string
  readonly requestHash: Buffer
}

export interface Rotation {
  /** How long the old key remains valid. 0 revokes it at once. */
  readonly overlapSeconds: number
  /** Of the new key. Undefined: it gets the lifetime of the old one. */
  readonly expiresAt: Date | null | undefined
}

/** They depend on the time, so they are not in RETURNING, where some databases accept only immutable functions. */
const columns = sql`key_id as "keyId", name, scopes, ${keyState} as state, created_at as "createdAt",
  expires_at as "expiresAt", revoked_at as "revokedAt", rotated_to as "replacedBy",
  to_char(last_used_on, 'YYYY-MM-DD') as "lastUsedOn"`

export async function createKey(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  parameters: KeyParameters,
  idempotency?: KeyIdempotency,
): Promise<NewKey> {
  validate(parameters)
  await transaction.run(lockStatement(scope))
  if (idempotency !== undefined) await rejectRetry(transaction, scope, idempotency)
  await requireAuditQuota(transaction, scope, actor)
  const created = await insertKey(transaction, scope, parameters, idempotency)
  const change = { action: 'key.create', subject: created.keyId, details: descriptionOf(created) } as const
  await transaction.run(auditStatement(scope, actor, change))
  return created
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
 * Creates a key with the name and scopes of the old one, which remains valid until the overlap ends. Only an active key
 * can be rotated, so that a request sent twice does not create two keys.
 */
export async function rotateKey(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  keyId: string,
  rotation: Rotation,
): Promise<{ readonly created: NewKey; readonly old: Key }> {
  if (!isKeyId(keyId)) throw unknownKey(keyId)
  await transaction.run(lockStatement(scope))
  const [found] = await transaction.run<Key>(keyStatement(scope, keyId))
  if (found === undefined) throw unknownKey(keyId)
  if (found.state !== 'active') throw notActive(found)
  await requireAuditQuota(transaction, scope, actor)
  const { name, scopes } = found
  const created = await insertKey(transaction, scope, { name, scopes, expiresAt: expiryOf(found, rotation) })
  await transaction.run(replaceStatement(scope, keyId, created.keyId, rotation.overlapSeconds))
  const [old] = await transaction.run<Key>(keyStatement(scope, keyId))
  if (old === undefined) throw unknownKey(keyId)
  const until =
    rotation.overlapSeconds === 0
      ? 'the old one is revoked'
      : `the old one until ${dateOrNever(old.expiresAt)}`
  const details = `to ${created.keyId}: ${descriptionOf(created)}; ${until}`
  await transaction.run(auditStatement(scope, actor, { action: 'key.rotate', subject: keyId, details }))
  return { created, old }
}

/** Takes effect with the next request. If the key is revoked already, nothing is written and `revokedAt` does not change. */
export async function revokeKey(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  keyId: string,
): Promise<Key> {
  if (!isKeyId(keyId)) throw unknownKey(keyId)
  await transaction.run(lockStatement(scope))
  const [revoked] = await transaction.run<{ name: string }>(revokeStatement(scope, keyId))
  if (revoked !== undefined) {
    const change = { action: 'key.revoke', subject: keyId, details: revoked.name } as const
    await transaction.run(auditStatement(scope, actor, change))
  }
  const [found] = await transaction.run<Key>(keyStatement(scope, keyId))
  if (found === undefined) throw unknownKey(keyId)
  return found
}

/** The JSON of a key in the API and on the command line. */
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

function validate({ name, scopes }: KeyParameters): void {
  const length = Array.from(name).length
  if (containsKey(name)) throw new Failure('body_invalid', `A key name ${containsKeyMessage}`)
  if (length < 1 || length > limits.keyNameCharactersMax || /\p{Cc}/u.test(name) || !name.isWellFormed()) {
    throw new Failure(
      'body_invalid',
      `A key name has 1 to ${limits.keyNameCharactersMax} characters and no control characters.`,
    )
  }
  if (scopes.length === 0) throw new Failure('body_invalid', 'A key needs at least one scope.')
}

/** Unless the request sets it: the lifetime of the old key, from now on. */
function expiryOf(old: Key, { expiresAt }: Rotation): Date | null {
  if (expiresAt !== undefined) return expiresAt
  if (old.expiresAt === null) return null
  return new Date(Date.now() + old.expiresAt.getTime() - old.createdAt.getTime())
}

async function insertKey(
  transaction: Transaction,
  scope: AccountScope,
  parameters: KeyParameters,
  idempotency?: KeyIdempotency,
): Promise<NewKey> {
  const [count] = await transaction.run<{ valid: number; stored: number }>(countStatement(scope))
  if (count !== undefined && count.valid >= limits.keysValidMax) {
    throw new Failure(
      'keys_exhausted',
      `The account has ${count.valid} valid keys, the maximum. Revoke one that is no longer used.`,
    )
  }
  if (count !== undefined && count.stored >= limits.keysStoredMax)
    await transaction.run(sweepStatement(scope))
  const key = generateKey()
  const keyId = newKeyId()
  await transaction.run(insertStatement(scope, keyId, hashOfKey(key), parameters, idempotency))
  const [created] = await transaction.run<Key>(keyStatement(scope, keyId))
  if (created === undefined) throw new Error('the insert returned no row')
  return { ...created, key }
}

async function rejectRetry(
  transaction: Transaction,
  scope: AccountScope,
  { key, requestHash }: KeyIdempotency,
): Promise<void> {
  const [earlier] = await transaction.run<{ keyId: string; same: boolean }>(
    sql`select key_id as "keyId", request_hash = ${value(requestHash)}::bytea as same from api_key
where account_id = ${value(scope.accountId)}::bigint and idempotency_key = ${value(key)}::text
  and created_at > now() - make_interval(hours => ${value(limits.idempotencyHours)}::int)`.statement(),
  )
  if (earlier === undefined) return
  if (!earlier.same) {
    throw new Failure(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another request body. Use a new key for a new request.',
    )
  }
  throw new Failure(
    'key_already_created',
    `This request has already created the key ${earlier.keyId}. Only its hash is stored, so it cannot be shown again. ` +
      `If you did not receive that response, revoke ${earlier.keyId} and send the request with another Idempotency-Key.`,
  )
}

/**
 * Changes of an account's keys run one after the other, so that their number cannot exceed the limit. The lock is taken on the
 * server with the account, because the statement reads its tally.
 */
function lockStatement({ accountId }: AccountScope): Statement {
  const account = value(accountId)
  return sql`select pg_advisory_xact_lock(hashtextextended('api_key', ${account}::bigint)) from tally
where account_id = ${account}::bigint and resource = 'product'`.statement()
}

function ofKey(scope: AccountScope, keyId: string): Fragment {
  return sql`account_id = ${value(scope.accountId)}::bigint and key_id = ${value(keyId)}::text`
}

function keyStatement(scope: AccountScope, keyId: string): Statement {
  return sql`select ${columns} from api_key where ${ofKey(scope, keyId)}`.statement()
}

function countStatement({ accountId }: AccountScope): Statement {
  return sql`select count(*) filter (where ${keyIsValid})::int as valid, count(*)::int as stored
from api_key where account_id = ${value(accountId)}::bigint`.statement()
}

function insertStatement(
  { accountId }: AccountScope,
  keyId: string,
  hash: string | undefined,
  { name, scopes, expiresAt }: KeyParameters,
  idempotency: KeyIdempotency | undefined,
): Statement {
  return sql`insert into api_key (account_id, key_id, hash, name, scopes, expires_at, idempotency_key, request_hash)
values (${value(accountId)}::bigint, ${value(keyId)}::text, decode(${value(hash)}::text, 'hex'), ${value(name)}::text,
  ${value([...new Set(scopes)])}::text[], ${value(expiresAt)}::timestamptz, ${value(idempotency?.key)}::text,
  ${value(idempotency?.requestHash)}::bytea)`.statement()
}

function replaceStatement(scope: AccountScope, keyId: string, by: string, overlapSeconds: number): Statement {
  const end =
    overlapSeconds === 0
      ? sql`revoked_at = now()`
      : sql`expires_at = least(expires_at, now() + make_interval(secs => ${value(overlapSeconds)}::int))`
  return sql`update api_key set rotated_to = ${value(by)}::text, ${end} where ${ofKey(scope, keyId)}`.statement()
}

function revokeStatement(scope: AccountScope, keyId: string): Statement {
  return sql`update api_key set revoked_at = now() where ${ofKey(scope, keyId)} and revoked_at is null
returning name`.statement()
}

/** Deletes the keys that ended first. Their changes remain in the audit log. */
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
  const replacement = replacedBy === null ? '' : ` It was replaced by the key ${replacedBy}.`
  return new Failure(
    'key_not_active',
    `The key ${keyId} is ${state}; only an active key can be rotated.${replacement}`,
  )
}

function descriptionOf({ name, scopes, expiresAt }: Key): string {
  return `${name}; ${scopes.join(', ')}; expires ${dateOrNever(expiresAt)}`
}

function dateOrNever(date: Date | null): string {
  return date === null ? 'never' : date.toISOString()
}
