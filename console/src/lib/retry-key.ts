import { useRef } from 'react'
import { randomKey } from './random-key.ts'

/**
 * The Idempotency-Key: the same for every attempt to create the same content, so that a retry after a lost response creates
 * no second one. A changed form is another key.
 */
export function useRetryKey(): (content: string) => string {
  const last = useRef<{ readonly content: string; readonly id: string }>(undefined)
  return (content) => {
    if (last.current?.content !== content) last.current = { content, id: randomKey() }
    return last.current.id
  }
}
