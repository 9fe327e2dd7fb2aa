import { useSyncExternalStore } from 'react'
import { keyStorageName, readStoredKey } from './lib/keys/stored-key.ts'

/** The API key of this tab: in memory and in session storage, which ends with the tab. Never in a URL or local storage. */

const listeners = new Set<() => void>()
let key = readStoredKey()

export function currentKey(): string | undefined {
  return key
}

export function useKey(): string | undefined {
  return useSyncExternalStore(subscribe, currentKey)
}

/** Uses a key for requests without signing in. Undefined ends the attempt. */
export function tryKey(candidate: string | undefined): void {
  key = candidate
}

export function signIn(newKey: string): void {
  key = newKey
  sessionStorage.setItem(keyStorageName, newKey)
  for (const listener of listeners) listener()
}

export function signOut(): void {
  key = undefined
  sessionStorage.clear()
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
