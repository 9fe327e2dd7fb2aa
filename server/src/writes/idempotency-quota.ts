import { LRUCache } from 'lru-cache'
import { Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { type Statement, sql, value } from '../sql.ts'

/** What is known about the stored results of an account. */
interface Room {
  readonly max: number
  readonly countedAt: number
  /** Whether the account was at its quota. */
  readonly isFull: boolean
  /** Results that this process may store before it counts again. */
  left: number
}

/**
 * Limits the stored results of an account. Counting a million takes 100 ms, so a process counts before it stores the first result of
 * the account, and then after as many more as there was room for, up to `idempotencyCountRows`. Each further process can exceed the
 * quota by that number. A stored result is never dropped to make room: a retry would then write again.
 */
export class IdempotencyQuota {
  readonly #rooms = new LRUCache<string, Room>({ max: limits.idempotencyAccountsTracked })

  /** Throws if the account is at its quota. */
  async require(transaction: Transaction, scope: AccountScope): Promise<void> {
    const known = this.#rooms.get(scope.accountId)
    const room = known === undefined || isDue(known) ? await this.#count(transaction, scope) : known
    if (room.isFull) throw exhausted(room.max)
  }

  /** Called after a result was stored. */
  added({ accountId }: AccountScope): void {
    const room = this.#rooms.get(accountId)
    if (room !== undefined) room.left--
  }

  async #count(transaction: Transaction, scope: AccountScope): Promise<Room> {
    const [row] = await transaction.run<{ max: number; stored: number }>(countStatement(scope))
    const { max, stored } = row ?? { max: 0, stored: 0 }
    const left = Math.min(limits.idempotencyCountRows, max - stored)
    const room = { max, countedAt: performance.now(), isFull: left <= 0, left }
    this.#rooms.set(scope.accountId, room)
    return room
  }
}

function isDue({ isFull, left, countedAt }: Room): boolean {
  return isFull ? performance.now() - countedAt >= limits.idempotencyRecountMs : left <= 0
}

function countStatement({ accountId }: AccountScope): Statement {
  const account = value(accountId)
  return sql`select coalesce(a.idempotency_results_max, ${value(limits.idempotencyResultsMax)}::bigint)::float8 as max, c.stored
from account a, (
  select count(*)::float8 as stored from idempotency k where k.account_id = ${account}::bigint
    and k.created_at > now() - make_interval(hours => ${value(limits.idempotencyHours)}::int)
) c where a.account_id = ${account}::bigint`.statement('idempotency')
}

function exhausted(max: number): Failure {
  return new Failure(
    'idempotency_exhausted',
    `The account has ${max} results of writes with an Idempotency-Key from the last ${limits.idempotencyHours} hours, its quota. Nothing was written. ` +
      'Send many records with one batch, which needs no key, or retry when earlier results have expired.',
  )
}
