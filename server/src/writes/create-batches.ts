import type { Resource } from '../catalog/resources.ts'
import { Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { Database } from '../postgres/database.ts'
import { type Create, type InsertedRow, insertAllStatement, insertStatement } from './create-statements.ts'
import { recordsExhausted } from './records-quota.ts'

interface PendingCreate extends Create {
  readonly resolve: (row: InsertedRow) => void
  readonly reject: (error: unknown) => void
}

interface Queue {
  pending: PendingCreate[]
  isScheduled: boolean
  inFlight: number
}

/**
 * Creates records of different accounts in one transaction, because the commit takes most of the time. While a batch is in
 * flight, creates queue up for the next. A batch never waits for another writer: accounts whose tally is locked are left
 * out, and their creates run alone.
 */
export class CreateBatches {
  readonly #database: Database
  readonly #queues = new Map<Resource, Queue>()

  constructor(database: Database) {
    this.#database = database
  }

  create(resource: Resource, create: Create): Promise<InsertedRow> {
    const queue = this.#queues.get(resource) ?? { pending: [], isScheduled: false, inFlight: 0 }
    this.#queues.set(resource, queue)
    return new Promise((resolve, reject) => {
      queue.pending.push({ ...create, resolve, reject })
      this.#schedule(resource, queue)
    })
  }

  #schedule(resource: Resource, queue: Queue): void {
    if (queue.isScheduled || queue.pending.length === 0 || queue.inFlight >= limits.createBatchesMax) return
    queue.isScheduled = true
    setImmediate(() => {
      queue.isScheduled = false
      const batch = takeBatch(queue)
      queue.inFlight++
      void this.#run(resource, batch).finally(() => {
        queue.inFlight--
        this.#schedule(resource, queue)
      })
      this.#schedule(resource, queue)
    })
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
function takeBatch(queue: Queue): PendingCreate[] {
  const accounts = new Set<string>()
  const batch: PendingCreate[] = []
  const rest: PendingCreate[] = []
  for (const create of queue.pending) {
    const { accountId } = create.scope
    if (batch.length < limits.createBatchRows && !accounts.has(accountId)) {
      accounts.add(accountId)
      batch.push(create)
    } else rest.push(create)
  }
  queue.pending = rest
  return batch
}

/** Whether PostgreSQL rejected the statement, perhaps because of one row, and nothing was written. */
function isOfOneRow(error: unknown): boolean {
  return error instanceof Failure && (error.code === 'internal' || isLockTimeout(error))
}

function isLockTimeout({ cause }: Failure): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === '55P03'
}
