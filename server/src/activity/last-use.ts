import { LRUCache } from 'lru-cache'
import { limits } from '../limits/limits.ts'
import type { RequestAccess } from '../observability/events.ts'
import { type Statement, sql, value } from '../sql.ts'

interface Use extends RequestAccess {
  readonly day: string
}

/** The day of each key's last use. Written once a day for each key, unless another process has written it. */
export class LastUse {
  readonly #seen = new LRUCache<string, string>({ max: limits.keyUsesCached })
  readonly #due = new Map<string, Use>()

  record(atMs: number, { accountId, keyId }: RequestAccess): void {
    const id = idOf({ accountId, keyId })
    const day = new Date(atMs).toISOString().slice(0, 10)
    if (this.#seen.get(id) === day || this.#due.size >= limits.keyUsesCached) return
    this.#seen.set(id, day)
    this.#due.set(id, { accountId, keyId, day })
  }

  get isEmpty(): boolean {
    return this.#due.size === 0
  }

  take(): readonly Use[] {
    const taken: Use[] = []
    for (const [id, use] of this.#due) {
      if (taken.length >= limits.activityWriteRows) break
      taken.push(use)
      this.#due.delete(id)
    }
    return taken
  }
}

function idOf({ accountId, keyId }: RequestAccess): string {
  return `${accountId} ${keyId}`
}

/** Locks the rows in the order of the primary key, so that two processes cannot deadlock. */
export function lastUseStatement(uses: readonly Use[]): Statement {
  const accounts = value(uses.map(({ accountId }) => accountId))
  return {
    execution: 'generic',
    ...sql`with due as (
  select k.account_id, k.key_id, q.day
  from unnest(${accounts}::bigint[], ${value(uses.map(({ keyId }) => keyId))}::text[],
    ${value(uses.map(({ day }) => day))}::date[]) q(account_id, key_id, day)
  join api_key k on k.account_id = q.account_id and k.key_id = q.key_id
  where k.account_id = any(${accounts}::bigint[]) and (k.last_used_on is null or k.last_used_on < q.day)
  order by k.account_id, k.key_id for no key update of k
)
update api_key k set last_used_on = due.day from due
where k.account_id = due.account_id and k.key_id = due.key_id and k.account_id = any(${accounts}::bigint[])`.statement(
      'activity',
    ),
  }
}
