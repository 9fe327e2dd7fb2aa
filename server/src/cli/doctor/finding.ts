/** One fact about the deployment. What is wrong comes with the command or SQL that mends it. */
export interface Finding {
  readonly check:
    | 'configuration'
    | 'connection'
    | 'redis'
    | 'database'
    | 'extensions'
    | 'migrations'
    | 'indexes'
    | 'rights'
    | 'tallies'
  readonly status: 'right' | 'wrong' | 'mended' | 'unchecked'
  readonly fact: string
  readonly mend?: string
}

export type Findings = AsyncGenerator<Finding, void>

type Check = Finding['check']

export const right = (check: Check, fact: string): Finding => ({ check, status: 'right', fact })
export const wrong = (check: Check, fact: string, mend: string): Finding => ({
  check,
  status: 'wrong',
  fact,
  mend,
})
export const mended = (check: Check, fact: string): Finding => ({ check, status: 'mended', fact })
export const unchecked = (check: Check, fact: string): Finding => ({ check, status: 'unchecked', fact })
