import { backoffMs, sleep } from './backoff.ts'
import {
  ConnectionFailed,
  CursorExpired,
  QueryTooSlow,
  RateLimited,
  StreamTruncated,
  TimedOut,
  Unavailable,
} from './errors.ts'
import { limits } from './limits.ts'

interface ChangeBase {
  /**
   * Pass it as `since` to continue after this change. The service sends changes in pages: until the last change of a page,
   * this is the cursor before the page, so that after an interruption you may receive a change again, but never miss one. On
   * the first page from the beginning it is undefined.
   */
  readonly cursor: string | undefined
}

/** Treat both as "insert or replace". */
interface Upserted<R> {
  readonly change: 'created' | 'updated'
  readonly record: R
}

/** `removed`: the record has changed and does not match the filter. You may not have it. */
interface Gone {
  readonly change: 'deleted' | 'removed'
}

interface SentBase {
  /** The id of the record. */
  readonly id: number
  /** The version of the resource that this change created. Several records can be written by one version. */
  readonly version: number
}

/** A change as the service sends it. */
type SentChange<R> = SentBase & (Upserted<R> | Gone)

/** A change of a record. Only the last state of a record is sent, not the ones in between. */
export type Change<R> = SentChange<R> & ChangeBase

/** Changes to apply to a copy: first delete, then insert or replace. */
export interface SyncBatch<R> {
  /** Whether a new copy begins: first delete all records of the copy. */
  readonly restart: boolean
  readonly deleted: readonly number[]
  readonly upserted: readonly R[]
  /**
   * Store it with the batch, and pass it as `since` to continue after a restart of your program. Undefined until the copy is
   * complete: then start again without `since`.
   */
  readonly cursor: string | undefined
}

/** The body of a response. */
export interface ChangesBody<R> {
  readonly data: readonly SentChange<R>[]
  readonly meta: { readonly more: boolean }
  readonly cursor: string
}

/** Requests one page, with the cursor and the seconds to wait. */
export type FetchChanges<R> = (since: string | undefined, wait: number) => Promise<ChangesBody<R>>

/** Yields changes until there are no more; returns the cursor. Waits only for the first. */
export async function* changesOf<R>(
  fetchPage: FetchChanges<R>,
  since: string | undefined,
  wait: number,
): AsyncGenerator<Change<R>, string, undefined> {
  let before = await startOf(fetchPage, since)
  for (let waiting = wait; ; waiting = 0) {
    const page = await fetchPage(before, waiting)
    yield* changesIn(page, before)
    before = page.cursor
    // With a filter a page can be empty before the end: the service examines a limited number of records.
    if (!page.meta.more) return page.cursor
  }
}

/** Yields changes as they are written, without an end. Continues after every temporary failure. */
export async function* watchChanges<R>(
  fetchPage: FetchChanges<R>,
  since: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Change<R>, never, undefined> {
  for (let before = await persistently(() => startOf(fetchPage, since), signal); ; ) {
    const after = before
    const page = await persistently(() => fetchPage(after, limits.waitSeconds), signal)
    yield* changesIn(page, before)
    before = page.cursor
  }
}

/** The cursor of `now`: the first changes after it need one to which a client can return. */
async function startOf<R>(
  fetchPage: FetchChanges<R>,
  since: string | undefined,
): Promise<string | undefined> {
  return since === 'now' ? (await fetchPage('now', 0)).cursor : since
}

function* changesIn<R>(
  { data, cursor }: ChangesBody<R>,
  before: string | undefined,
): Generator<Change<R>, void, undefined> {
  for (const [i, change] of data.entries())
    yield { ...change, cursor: i === data.length - 1 ? cursor : before }
}

/** Starts an export: its cursor, and its records. */
export type StartExport<R> = () => Promise<{ readonly cursor: string; readonly records: AsyncIterable<R> }>

/** Yields a complete copy, unless `since` continues one, and then its changes, without an end. */
export async function* syncBatches<R>(
  startExport: StartExport<R>,
  fetchPage: FetchChanges<R>,
  since: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<SyncBatch<R>, never, undefined> {
  for (let cursor = since; ; ) {
    cursor ??= yield* copyOf(startExport, signal)
    try {
      yield* followedChanges(fetchPage, cursor, signal)
    } catch (error) {
      if (!(error instanceof CursorExpired)) throw error
      cursor = undefined
    }
  }
}

async function* copyOf<R>(
  startExport: StartExport<R>,
  signal: AbortSignal | undefined,
): AsyncGenerator<SyncBatch<R>, string, undefined> {
  for (let attempts = 1; ; attempts++) {
    try {
      const { cursor, records } = await persistently(startExport, signal)
      let restart = true
      let upserted: R[] = []
      for await (const record of records) {
        upserted.push(record)
        if (upserted.length < limits.syncBatchRecords) continue
        yield { restart, deleted: [], upserted, cursor: undefined }
        restart = false
        upserted = []
      }
      yield { restart, deleted: [], upserted, cursor }
      return cursor
    } catch (error) {
      if (!(error instanceof StreamTruncated)) throw error
      await sleep(backoffMs(attempts), signal)
    }
  }
}

async function* followedChanges<R>(
  fetchPage: FetchChanges<R>,
  since: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<SyncBatch<R>, never, undefined> {
  for (let cursor = since; ; ) {
    const page = await persistently(() => fetchPage(cursor, limits.waitSeconds), signal)
    const deleted: number[] = []
    const upserted: R[] = []
    for (const change of page.data) {
      // A page is one snapshot: if a record is part of it, each deletion of its id was earlier.
      if ('record' in change) upserted.push(change.record)
      else deleted.push(change.id)
    }
    // With a filter the cursor can move without a change.
    if (page.cursor !== cursor) yield { restart: false, deleted, upserted, cursor: page.cursor }
    cursor = page.cursor
  }
}

/** Repeats a request until it succeeds. The sender has already retried it for `retryForMs`. */
async function persistently<T>(send: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await send()
    } catch (error) {
      signal?.throwIfAborted()
      if (!isTemporary(error)) throw error
      await sleep(backoffMs(attempts), signal)
    }
  }
}

function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionFailed) return error.code === 'connection_failed'
  if (error instanceof QueryTooSlow) return error.code === 'proxy_timeout'
  return error instanceof TimedOut || error instanceof Unavailable || error instanceof RateLimited
}
