import { useEffect, useState } from 'react'

/** True once the condition was true and the browser had nothing else to do: for what the first view does not need. */
export function useIdleAfter(condition: boolean): boolean {
  const [isIdle, setIdle] = useState(false)
  useEffect(() => {
    if (!condition || isIdle) return undefined
    // Safari has no requestIdleCallback.
    if (typeof requestIdleCallback === 'undefined') {
      const timer = setTimeout(() => setIdle(true), 50)
      return () => clearTimeout(timer)
    }
    const handle = requestIdleCallback(() => setIdle(true), { timeout: 1_000 })
    return () => cancelIdleCallback(handle)
  }, [condition, isIdle])
  return isIdle
}
