import { Failure } from '../../errors/errors.ts'
import { excerpt } from '../../errors/faults.ts'
import { type KeyState, keyIsValid } from '../../key-state.ts'
import { limits } from '../../limits/limits.ts'
import type { Transaction } from '../../postgres/transaction.ts'
import { sql, value } from '../../sql.ts'
import type { Actor } from '../audit.ts'
import {
  containsKey,
  containsKeyMessage,
  generateOperatorToken,
  hashOfOperatorToken,
  newKeyId,
} from '../key-format.ts'

/** The tokens of the operator API. */

/** No scope includes another one. */
export const operatorScopes = ['read', 'provision', 'erase'] as const
export type OperatorScope = (typeof operatorScopes)[number]

export interface OperatorToken {
  readonly id: string
  readonly name: string
  readonly scopes: readonly OperatorScope[]
  readonly state: Exclude<KeyState, 'rotating'>
  readonly createdAt: Date
  readonly createdBy: string
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

export interface TokenParameters {
  readonly name: string
  readonly scopes: readonly OperatorScope[]
  readonly expiresAt: Date | null
  /** A token that exists already, such as one in a Secret. Default: a new one. */
  readonly token?: string
}

type Run = Transaction['run']

const columns = sql`id, name, scopes, case when revoked_at is not null then 'revoked'
  when expires_at <= now() then 'expired' else 'active' end as state,
  created_at as "createdAt", created_by as "createdBy", expires_at as "expiresAt", revoked_at as "revokedAt"`

/** The token itself is returned only now: the database stores its hash. A token that is stored already is returned as it is. */
export async function createToken(
  run: Run,
  actor: Actor,
  { name, scopes, expiresAt, token = generateOperatorToken() }: TokenParameters,
): Promise<OperatorToken & { readonly token: string }> {
  if (containsKey(name)) throw new Failure('request_invalid', `The name ${containsKeyMessage}`)
  if (
    Array.from(name).length < 1 ||
    Array.from(name).length > limits.keyNameCharactersMax ||
    /\p{Cc}/u.test(name)
  )
    throw new Failure(
      'request_invalid',
      `A token's name has 1 to ${limits.keyNameCharactersMax} characters and no control characters.`,
    )
  const hash = hashOfOperatorToken(token)
  if (hash === undefined) {
    throw new Failure(
      'request_invalid',
      'The file does not contain an operator token, as `quartermaster operator token create` prints it.',
    )
  }
  const bytes = sql`decode(${value(hash)}::text, 'hex')`
  const by = [actor.id, actor.address].filter((part) => part !== null).join(' at ')
  await run(
    sql`insert into operator_token (id, name, hash, scopes, created_by, expires_at)
values (${value(newKeyId())}::text, ${value(name)}::text, ${bytes}, ${value([...new Set(scopes)])}::text[], ${value(by)}::text,
  ${value(expiresAt)}::timestamptz) on conflict (hash) do nothing`.statement('account'),
  )
  const [created] = await run<OperatorToken>(
    sql`select ${columns} from operator_token where hash = ${bytes}`.statement('account'),
  )
  if (created === undefined) throw new Error('the insert returned no row')
  return { ...created, token }
}

export async function listTokens(run: Run): Promise<OperatorToken[]> {
  return await run<OperatorToken>(
    sql`select ${columns} from operator_token order by created_at desc, id limit ${value(limits.commandRowsMax)}::int`.statement(
      'account',
    ),
  )
}

/** Takes effect with the next request. */
export async function revokeToken(run: Run, id: string): Promise<OperatorToken> {
  await run(
    sql`update operator_token set revoked_at = coalesce(revoked_at, now()) where id = ${value(id)}::text`.statement(
      'account',
    ),
  )
  const [revoked] = await run<OperatorToken>(
    sql`select ${columns} from operator_token where id = ${value(id)}::text`.statement('account'),
  )
  if (revoked !== undefined) return revoked
  throw new Failure('record_unknown', `There is no operator token ${JSON.stringify(excerpt(id))}.`)
}

/** Undefined if the token is not valid. */
export async function acceptedToken(run: Run, text: string): Promise<OperatorToken | undefined> {
  const hash = hashOfOperatorToken(text)
  if (hash === undefined) return undefined
  const [found] = await run<OperatorToken>(
    sql`select ${columns} from operator_token
where hash = decode(${value(hash)}::text, 'hex') and ${keyIsValid}`.statement('verify_key'),
  )
  return found
}

export function tokenJson(token: OperatorToken) {
  return {
    id: token.id,
    name: token.name,
    scopes: token.scopes,
    state: token.state,
    created_at: token.createdAt,
    created_by: token.createdBy,
    expires_at: token.expiresAt,
    revoked_at: token.revokedAt,
  }
}
