import { useRef, useState } from 'react'
import { type Problem, problemFrom } from '../api/exchange.ts'

export interface Submit {
  readonly isBusy: boolean
  /** Of the last attempt. */
  readonly problem: Problem | undefined
  /** Does nothing while an attempt is under way, so that a double click sends one request. */
  run(attempt: () => Promise<void>): Promise<void>
}

/** The state of a form that sends one request. A mutation of TanStack Query would keep the response, which has a secret. */
export function useSubmit(): Submit {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  const isRunning = useRef(false)
  return {
    isBusy,
    problem,
    run: async (attempt) => {
      if (isRunning.current) return
      isRunning.current = true
      setBusy(true)
      setProblem(undefined)
      try {
        await attempt()
      } catch (error) {
        setProblem(problemFrom(error))
      } finally {
        isRunning.current = false
        setBusy(false)
      }
    },
  }
}

/** The messages for a member of the body, such as `name`. */
export function faultsAt(problem: Problem | undefined, member: string): string | undefined {
  const found = (problem?.errors ?? []).filter(
    ({ pointer }) => pointer === `/${member}` || pointer?.startsWith(`/${member}/`),
  )
  return found.length === 0 ? undefined : found.map(({ message }) => message).join(' ')
}
