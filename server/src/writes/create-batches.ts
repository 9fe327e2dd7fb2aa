import { BatchQueue } from '../batch-queue.ts'
import { type Resource, resources } from '../catalog/resources.ts'
import { Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { Database } from '../postgres/database.ts'
import { type Create, type InsertedRow, insertAllStatement, insertStatement } from './create-statements.ts'
import { recordsExhausted } from './records-quota.ts'

interface PendingCreate extends Create {
  readonly resolve: (row: InsertedRow) => void
  readonly reject: (error: unknown) => void
}

/**
 * Creates records of different accounts in one transaction, because the commit takes most of the time. While a batch is in
 * flight, creates queue up for the next. A batch never waits for another writer: accounts whose tally is locked are left
 * out, and their creates run alone.
 */
export class CreateBatches {
  readonly #database: Database
  readonly #queues = new Map<string, BatchQueue<PendingCreate>>()

  constructor(database: Database) {
    this.#database = database
  }

  create(resource: Resource, create: Create): Promise<InsertedRow> {
    // Those with values of fields of the account have other statements.
    const name = create.custom === undefined ? resource.name : `${resource.name} with own fields`
    const queue = this.#queues.get(name) ?? this.#queueOf(resources[resource.name], name)
    return new Promise((resolve, reject) => queue.add({ ...create, resolve, reject }))
  }

  #queueOf(resource: Resource, name: string): BatchQueue<PendingCreate> {
    const queue = new BatchQueue<PendingCreate>({
      inFlightMax: limits.createBatchesMax,
      take: takeBatch,
      run: (batch) => this.#run(resource, batch),
    })
    this.#queues.set(name, queue)
    return queue
  }

  async #run(resource: Resource, batch: readonly PendingCreate[]): Promise<void> {
    try {
      const rows = await this.#database.writeOne<InsertedRow & { readonly n: string }>(
        insertAllStatement(resource, batch),
      )
      const created = new Map(rows.map((row) => [Number(row.n) - 1, row]))
      for (const [i, create] of batch.entries()) {
        const row = created.get(i)
        if (row === undefined) void this.#runAlone(resource, create)
        else create.resolve(row)
      }
    } catch (error) {
      if (isOfOneRow(error)) for (const create of batch) void this.#runAlone(resource, create)
      else for (const { reject } of batch) reject(error)
    }
  }

  async #runAlone(resource: Resource, { resolve, reject, ...create }: PendingCreate): Promise<void> {
    try {
      const [row] = await this.#database.writeOne<InsertedRow>(insertStatement(resource, create))
      if (row === undefined) throw recordsExhausted(resource, create.recordsMax)
      resolve(row)
    } catch (error) {
      reject(error)
    }
  }
}

/** At most one create of each account, because each has a version of its own. The others stay in the queue, in their order. */
function takeBatch(waiting: PendingCreate[]): PendingCreate[] {
  const accounts = new Set<string>()
  const batch: PendingCreate[] = []
  const rest: PendingCreate[] = []
  for (const create of waiting) {
    const { accountId } = create.scope
    if (batch.length < limits.createBatchRows && !accounts.has(accountId)) {
      accounts.add(accountId)
      batch.push(create)
    } else rest.push(create)
  }
  waiting.splice(0, waiting.length, ...rest)
  return batch
}

/** Whether PostgreSQL rejected the statement, perhaps because of one row, and nothing was written. */
function isOfOneRow(error: unknown): boolean {
  return error instanceof Failure && (error.code === 'internal' || isLockTimeout(error))
}

function isLockTimeout({ cause }: Failure): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === '55P03'
}
