import { LRUCache } from 'lru-cache'
import { limits } from '../limits.ts'
import type { AccountScope } from '../scope.ts'
import { type Statement, sql, value } from '../sql.ts'
import type { Store } from '../store/pool.ts'
import { hashOfKey, type Scope } from './key.ts'

/** What an accepted key may do, and in which account. */
export interface Access extends AccountScope {
  readonly keyId: string
  readonly scopes: ReadonlySet<Scope>
}

interface AccessRow {
  readonly key_id: string
  readonly scopes: Scope[]
}

/** No account has it: a key offered on an unknown host is looked up like any other, and takes as long. */
const nobody = '0'

/** Tells who is asking. There is one "no": which part was wrong is not said, nor shown by the time it takes. */
export class Accesses {
  readonly #store: Store
  /** Names are never given to another account, so an id once found holds. Unknown names are not kept. */
  readonly #ids = new LRUCache<string, string>({ max: limits.accountNamesKept })

  constructor(store: Store) {
    this.#store = store
  }

  async find(accountName: string | undefined, key: string): Promise<Access | undefined> {
    const hash = hashOfKey(key)
    if (hash === undefined) return undefined
    const accountId = (accountName !== undefined && (await this.#idOf(accountName))) || nobody
    const [row] = await this.#store.read<AccessRow>(accessStatement(accountId, hash))
    return row && { accountId, keyId: row.key_id, scopes: new Set(row.scopes) }
  }

  async #idOf(name: string): Promise<string | undefined> {
    const kept = this.#ids.get(name)
    if (kept !== undefined) return kept
    const [row] = await this.#store.read<{ account_id: string }>(accountStatement(name))
    if (row !== undefined) this.#ids.set(name, row.account_id)
    return row?.account_id
  }
}

function accountStatement(name: string): Statement {
  return sql`select account_id from account where name = ${value(name)}::text`.statement()
}

function accessStatement(accountId: string, hash: Buffer): Statement {
  const account = value(accountId)
  return sql`select k.key_id, k.scopes
from api_key k
join account a on a.account_id = ${account}::bigint
where k.account_id = ${account}::bigint and k.hash = ${value(hash)}::bytea
  and k.revoked_at is null and (k.expires_at is null or k.expires_at > now()) and a.status = 'active'`.statement()
}
