import { backoffMs, sleep } from './backoff.ts'
import { ConnectionFailed, QueryTooSlow, RateLimited, TimedOut, Unavailable } from './errors.ts'
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
  /** Of the record. Pass it as `ifMatch` to change the record only if no one else has changed it since. */
  readonly etag: string
  readonly record: R
}

/** `removed`: the record has changed and does not match the filter. You may not have it. */
interface Gone {
  readonly change: 'deleted' | 'removed'
  /** The record was erased: remove its values from logs, backups and copies, too. Only with `deleted`. */
  readonly erased?: true
  /** Who deleted the record, if `fields` names `changed_by`; null if it is not known. */
  readonly deleted_by?: string | null
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

/** Repeats a request until it succeeds. The sender has already retried it for `retryForMs`. */
export async function persistently<T>(send: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
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
