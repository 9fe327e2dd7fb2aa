import { useEffect, useState } from 'react'
import { type Feed, type ResourceName, readFeed } from '../../api/changes.ts'
import { problemFrom } from '../../api/exchange.ts'
import { addPosition } from './positions.ts'

/** A person notices within half a minute; four lists in a tab each make two requests a minute. */
const pollMs = 30_000
/** After as many it does not matter how many there are. */
const countMax = 100

/**
 * How many records of a list have changed since it was loaded. Polls the change feed while the tab is visible, and ends after an
 * error that will not pass, or when there are `countMax` changes.
 */
export function useListChanges(resource: ResourceName, filter: string | undefined, loadedAt: number) {
  const [changes, setChanges] = useState<Feed['meta']>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: begins again when the list was loaded again
  useEffect(() => {
    setChanges(undefined)
    const abort = new AbortController()
    void follow(resource, filter, abort.signal, setChanges)
    return () => abort.abort()
  }, [resource, filter, loadedAt])
  return changes
}

async function follow(
  resource: ResourceName,
  filter: string | undefined,
  signal: AbortSignal,
  onChanges: (meta: Feed['meta']) => void,
): Promise<void> {
  try {
    const { cursor } = await readFeed(resource, { since: 'now', filter, signal })
    // Cursors belong to a filter: only those without one are of use to the page with all changes.
    if (filter === undefined) addPosition(resource, { at: new Date().toISOString(), cursor })
    const changesAfter = async (since: string) => {
      try {
        return (await readFeed(resource, { since, filter, limit: countMax, signal })).meta
      } catch (error) {
        if (signal.aborted || !isPassing(error)) throw error
        return undefined
      }
    }
    for (;;) {
      await nextPoll(signal)
      const meta = await changesAfter(cursor)
      if (meta !== undefined && meta.count > 0) onChanges(meta)
      if (meta?.more === true) return
    }
  } catch {
    // The list itself shows what is wrong when it is loaded again. Without the feed it has no hint.
  }
}

/** No connection, a rate limit, or a busy service. */
function isPassing(error: unknown): boolean {
  const { status } = problemFrom(error)
  return status === 0 || status === 429 || status >= 500
}

/** After the pause, and not while the tab is hidden. Rejects when the signal is aborted. */
async function nextPoll(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, pollMs)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
  if (document.visibilityState === 'visible') return
  await new Promise<void>((resolve, reject) => {
    const onVisible = () => document.visibilityState === 'visible' && resolve()
    document.addEventListener('visibilitychange', onVisible, { signal })
    signal.addEventListener('abort', () => reject(signal.reason))
  })
}
