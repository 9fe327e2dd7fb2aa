import { useSyncExternalStore } from 'react'

/** Whether the browser has no connection. False where it does not know, such as in tests. */
export function isOffline(): boolean {
  return 'onLine' in navigator && !navigator.onLine
}

/** Whether the browser has a connection. */
export function useOnline(): boolean {
  return useSyncExternalStore(subscribe, () => navigator.onLine)
}

function subscribe(listener: () => void): () => void {
  addEventListener('online', listener)
  addEventListener('offline', listener)
  return () => {
    removeEventListener('online', listener)
    removeEventListener('offline', listener)
  }
}
