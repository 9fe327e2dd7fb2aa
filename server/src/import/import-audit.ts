import { type Actor, amendAudit, auditStatement } from '../accounts/audit.ts'
import type { Resource } from '../catalog/resources.ts'
import { newEntryId } from '../entry-id.ts'
import type { AccountScope } from '../scope.ts'
import type { Statement } from '../sql.ts'

export interface Written {
  readonly inserted: number
  readonly updated: number
  readonly deleted: number
}

/**
 * The row of an import in the audit log. The first transaction that writes records inserts it, and each later one updates its
 * counts. So it says what was committed, even if the import is killed.
 */
export class ImportAudit {
  readonly #scope: AccountScope
  readonly #resource: Resource
  readonly #actor: Actor
  readonly #file: string
  #id: string | undefined
  #total: Written = { inserted: 0, updated: 0, deleted: 0 }

  constructor(scope: AccountScope, resource: Resource, actor: Actor, file: string) {
    this.#scope = scope
    this.#resource = resource
    this.#actor = actor
    this.#file = file
  }

  /** In the transaction that writes these records. Undefined if there are none. */
  written({ inserted, updated, deleted }: Written): Statement | undefined {
    if (inserted + updated + deleted === 0) return undefined
    this.#total = {
      inserted: this.#total.inserted + inserted,
      updated: this.#total.updated + updated,
      deleted: this.#total.deleted + deleted,
    }
    const details = `from ${this.#file}, not completed: ${this.#counts}`
    if (this.#id !== undefined) return amendAudit(this.#scope, this.#id, details)
    this.#id = newEntryId(Date.now())
    const change = { action: 'account.import' as const, subject: this.#resource.name, details }
    return auditStatement(this.#scope, this.#actor, change, this.#id)
  }

  /** Undefined if the import has changed nothing. */
  completed(rejected: number): Statement | undefined {
    if (this.#id === undefined) return undefined
    const details = `from ${this.#file}: ${this.#counts}, ${rejected} rejected`
    return amendAudit(this.#scope, this.#id, details)
  }

  get #counts(): string {
    const { inserted, updated, deleted } = this.#total
    return `${inserted} inserted, ${updated} updated, ${deleted} deleted`
  }
}
