/** The result of one check. A problem includes the command, SQL or setting that repairs it. */
export interface Finding {
  readonly check:
    | 'configuration'
    | 'connection'
    | 'redis'
    | 'settings'
    | 'replication'
    | 'replicas'
    | 'database'
    | 'extensions'
    | 'migrations'
    | 'indexes'
    | 'rights'
    | 'distribution'
    | 'webhooks'
    | 'tallies'
    | 'keys'
    | 'values'
  /** A `warning` does not fail doctor: it is right for some operators. */
  readonly status: 'ok' | 'warning' | 'problem' | 'repaired' | 'unchecked'
  readonly message: string
  readonly repair?: string
}

export type Findings = AsyncGenerator<Finding, void>

type Check = Finding['check']

export const ok = (check: Check, message: string): Finding => ({ check, status: 'ok', message })
export const problem = (check: Check, message: string, repair: string): Finding => ({
  check,
  status: 'problem',
  message,
  repair,
})
export const warning = (check: Check, message: string, repair?: string): Finding => ({
  check,
  status: 'warning',
  message,
  ...(repair === undefined ? {} : { repair }),
})
export const repaired = (check: Check, message: string): Finding => ({ check, status: 'repaired', message })
export const unchecked = (check: Check, message: string): Finding => ({ check, status: 'unchecked', message })
