import type { Verified } from '../accounts/verifications.ts'
import { BatchQueue } from '../batch-queue.ts'
import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import type { Database } from '../postgres/database.ts'
import { failingOver } from '../postgres/sqlstate.ts'
import { fieldsHash } from '../query/fields-hash.ts'
import {
  keyedRecordsStatement,
  type RecordKey,
  type RecordRow,
  recordOf,
  recordsStatement,
} from '../query/sql/record-statement.ts'
import type { StateStatement } from '../sql.ts'
import { isAtLeast, isOlder, recordEtag, type Tally } from '../tally-state.ts'
import type { RecordQuery } from './plan-cache.ts'
import { type ReadResponse, responseOf } from './response.ts'

export interface PendingRead extends RecordKey {
  readonly resolve: (row: RecordRow | undefined) => void
  readonly reject: (error: unknown) => void
}

/** The record of a request, and the members of its response. */
export interface RecordRequest extends RecordQuery {
  readonly resource: Resource
  readonly address: { readonly id: string } | { readonly key: NonNullable<RecordKey['key']> }
}

/**
 * Reads single records. One statement reads those of all requests that arrived in an event-loop iteration, or of more if the
 * process is busy.
 */
export class RecordReader {
  readonly #database: Database
  readonly #queues = new Map<string, BatchQueue<PendingRead>>()

  constructor(database: Database) {
    this.#database = database
  }

  /** The row of a record; undefined if the account has none of this resource. */
  row({ resource, address, withAuthors }: RecordRequest, accountId: string): Promise<RecordRow | undefined> {
    // One statement reads the records of accounts with fields of their own, whatever fields these are.
    const own = resource.schema === undefined ? '' : ' with own fields'
    const isKeyed = 'key' in address
    const name = `${resource.name}${isKeyed ? ' by key' : own}${withAuthors ? ' with authors' : ''}`
    const queue = this.#queues.get(name) ?? this.#queueOf(resource, name)
    const [id, key] = isKeyed ? ['', address.key] : [address.id, undefined]
    return new Promise((resolve, reject) => queue.add({ accountId, id, key, withAuthors, resolve, reject }))
  }

  /** One record; undefined if no record has this id. `early`: its row, requested while the key was being verified. */
  async read(
    { access, tally }: Verified & { readonly tally: Tally },
    request: RecordRequest,
    early: Promise<RecordRow | undefined> | undefined,
  ): Promise<ReadResponse | undefined> {
    let row = await early
    // The row was read before the verification, or from another server.
    if (row === undefined || !isAtLeast(row, tally)) row = await this.row(request, access.accountId)
    if (row !== undefined && isOlder(row, tally)) throw failingOver()
    if (row === undefined || row.fields === null || row.record_version === null) return undefined
    const { resource, address, members } = request
    const id = 'id' in address ? address.id : (row.record_id ?? '')
    const position = { version: row.record_version, lineage: row.lineage }
    const etag = recordEtag(position, id, request.fieldsHash)
    const record = recordOf(row.fields, members, () => recordEtag(position, id, fieldsHash(resource)))
    return responseOf(row, etag, `{"data":${record}}`, undefined, 1)
  }

  #queueOf(resource: Resource, name: string): BatchQueue<PendingRead> {
    const queue = new BatchQueue<PendingRead>({
      inFlightMax: limits.recordBatchesInFlightMax,
      take: (waiting) => waiting.splice(0, limits.recordBatchMax),
      run: (batch) => this.#runBatch(resource, batch),
    })
    this.#queues.set(name, queue)
    return queue
  }

  async #runBatch(resource: Resource, batch: readonly PendingRead[]): Promise<void> {
    const statementsOf = await this.#database.form(batchStatements)
    await Promise.all(statementsOf(resource, batch).map(([statement, reads]) => this.#run(statement, reads)))
  }

  async #run(statement: StateStatement, batch: readonly PendingRead[]): Promise<void> {
    try {
      const [first] = batch
      const database = first === undefined ? this.#database : this.#database.nodeOf(first)
      const rows = await database.read<RecordRow>(statement)
      const found: (RecordRow | undefined)[] = batch.map(() => undefined)
      for (const row of rows) found[Number(row.n) - 1] = row
      for (const [i, { resolve }] of batch.entries()) resolve(found[i])
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}

/** The statements of a batch, each with the reads that it answers. */
export function batchStatements(
  resource: Resource,
  batch: readonly PendingRead[],
): (readonly [StateStatement, readonly PendingRead[]])[] {
  const isKeyed = batch.some(({ key }) => key !== undefined)
  return [[isKeyed ? keyedRecordsStatement(resource, batch) : recordsStatement(resource, batch), batch]]
}
