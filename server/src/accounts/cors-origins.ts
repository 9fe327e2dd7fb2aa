import { limits } from '../limits/limits.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { placeholder, type Statement, sql, value } from '../sql.ts'
import { type Actor, auditStatement, requireAuditQuota } from './audit.ts'
import { containsKey } from './key-format.ts'

/** The origins whose pages may use the API of an account. `allowed-origins.ts` looks them up for requests. */

/** As browsers send it: in lower case, a name outside ASCII as punycode, without the default port, without a path. */
const originPattern = /^https?:\/\/(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/

/** Whether an account can allow this origin. */
export function isOrigin(text: string): boolean {
  // A key first: a regular expression and a URL would retain it.
  if (text.length > limits.corsOriginCharactersMax || containsKey(text)) return false
  return originPattern.test(text) && URL.parse(text)?.origin === text
}

export interface OriginFault {
  readonly message: string
  /** The origin that was probably meant. */
  readonly suggestion?: string
}

/** Why an account cannot allow this origin, which contains no key; undefined if it can. The message follows the origin. */
export function originFault(text: string): OriginFault | undefined {
  if (text.length > limits.corsOriginCharactersMax) {
    return {
      message: `has ${text.length} characters; the maximum is ${limits.corsOriginCharactersMax}.`,
    }
  }
  if (text.includes('*')) {
    return { message: 'contains *. Name each origin: any other page could use a key that it gets hold of.' }
  }
  if (text === 'null') {
    return {
      message: 'is what browsers send for files and sandboxed frames of any site, so it cannot be allowed.',
    }
  }
  if (isOrigin(text)) return undefined
  const meant = URL.parse(text.includes('://') ? text : `https://${text}`)?.origin
  return {
    message:
      'is not an origin: http or https, a host in lower case, and a port unless it is the default one.',
    ...(meant !== undefined && isOrigin(meant) ? { suggestion: meant } : {}),
  }
}

export interface OriginsRow {
  /** A JSON array. */
  readonly origins: string
}

const account = placeholder()
const originsTemplate =
  sql`select array_to_json(origins)::text as origins from cors_origins where account_id = ${account}::bigint`.template(
    [account],
    'account',
    'pipelined',
  )

export function originsStatement({ accountId }: AccountScope): Statement {
  return originsTemplate([accountId])
}

export function originsIn([row]: readonly OriginsRow[]): readonly string[] {
  const origins: readonly string[] = row === undefined ? [] : JSON.parse(row.origins)
  return origins
}

/** Replaces the list. `origins` must be valid and different. */
export async function setCorsOrigins(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  origins: readonly string[],
): Promise<void> {
  const before = originsIn(await transaction.run<OriginsRow>(originsStatement(scope)))
  if (before.length === origins.length && before.every((origin, i) => origin === origins[i])) return
  // Removals are limited by the additions before them, and must always be possible.
  const adds = origins.some((origin) => !before.includes(origin))
  if (adds) await requireAuditQuota(transaction, scope, actor)
  const id = value(scope.accountId)
  await transaction.run(
    sql`insert into cors_origins (account_id, origins) values (${id}::bigint, ${value(origins)}::text[])
on conflict (account_id) do update set origins = excluded.origins`.statement('account'),
  )
  const [found] = await transaction.run<{ name: string }>(
    sql`select name from account where account_id = ${id}::bigint`.statement('account'),
  )
  const details = origins.length === 0 ? 'no origin' : `${origins.length}: ${origins.join(', ')}`
  const change = { action: 'account.cors', subject: found?.name ?? '', details } as const
  await transaction.run(auditStatement(scope, actor, change))
}
