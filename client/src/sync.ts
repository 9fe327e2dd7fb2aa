import { type FetchChanges, persistently } from './changes.ts'
import { CursorExpired } from './errors.ts'
import { limits } from './limits.ts'
import { randomText } from './random-text.ts'

/**
 * How far a copy is. Plain data: store it, such as in a column of JSON, in the transaction that applies its batch, and pass it
 * as `since` to continue.
 */
export interface SyncState {
  /** The mark of every record that is inserted or replaced. A new walk through all records has a new mark. */
  readonly walk: string
  /** Whether the walk has not seen all records yet. */
  readonly isWalking: boolean
  /** The position in the feed of changes. */
  readonly cursor: string
}

/** Changes to apply to a copy in one transaction: delete, insert or replace, sweep, store the state. */
export interface SyncBatch<R> {
  readonly deleted: readonly number[]
  /** Store each record with the mark `state.walk`. */
  readonly upserted: readonly R[]
  /** The walk has seen every record: now delete all records of the copy with another mark. */
  readonly sweep: boolean
  readonly state: SyncState
}

/** A state before the first page of a walk has no cursor. */
type Position = Omit<SyncState, 'cursor'> & { readonly cursor: string | undefined }

/**
 * Yields every record, unless `since` continues a copy, and then the changes, without an end. If changes may be missing it walks
 * through all records again: the copy keeps what it has until the walk has seen everything. Then what it has not seen is gone.
 */
export async function* syncBatches<R>(
  fetchPage: FetchChanges<R>,
  since: SyncState | string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<SyncBatch<R>, never, undefined> {
  for (let position = positionOf(since); ; position = newWalk()) {
    try {
      yield* batchesAfter(fetchPage, position, signal)
    } catch (error) {
      if (!(error instanceof CursorExpired)) throw error
    }
  }
}

async function* batchesAfter<R>(
  fetchPage: FetchChanges<R>,
  { walk, isWalking, cursor }: Position,
  signal: AbortSignal | undefined,
): AsyncGenerator<SyncBatch<R>, never, undefined> {
  for (let [before, walking] = [cursor, isWalking]; ; ) {
    const [since, wait] = [before, walking ? 0 : limits.waitSeconds]
    const page = await persistently(() => fetchPage(since, wait), signal)
    const deleted: number[] = []
    const upserted: R[] = []
    for (const change of page.data) {
      // A page is one snapshot: if a record is part of it, each deletion of its id was earlier.
      if ('record' in change) upserted.push(change.record)
      else deleted.push(change.id)
    }
    // The end of the feed is one snapshot. Every record in it was sent at its version, so nothing that exists is swept.
    const sweep = walking && !page.meta.more
    walking &&= page.meta.more
    before = page.cursor
    // With a filter the cursor can move without a change.
    if (sweep || page.cursor !== since)
      yield { deleted, upserted, sweep, state: { walk, isWalking: walking, cursor: page.cursor } }
  }
}

/** A cursor continues a copy that was made by `changes` or `export`: none of its records has the mark of a walk. */
function positionOf(since: SyncState | string | undefined): Position {
  if (since === undefined) return newWalk()
  if (typeof since === 'string') return { walk: newMark(), isWalking: false, cursor: since }
  if (isState(since)) return since
  throw new TypeError('since must be the state of a batch of sync, a cursor, or undefined for a new copy.')
}

/** It was stored as JSON: a wrong column must not mark records with "undefined". */
function isState(since: unknown): since is SyncState {
  if (typeof since !== 'object' || since === null) return false
  if (!('walk' in since && 'isWalking' in since && 'cursor' in since)) return false
  const { walk, isWalking, cursor } = since
  return typeof walk === 'string' && typeof isWalking === 'boolean' && typeof cursor === 'string'
}

function newWalk(): Position {
  return { walk: newMark(), isWalking: true, cursor: undefined }
}

/** Random, not counted: a copy whose state was lost has records with older marks, which a new walk must not repeat. */
function newMark(): string {
  return randomText(limits.walkBytes)
}
