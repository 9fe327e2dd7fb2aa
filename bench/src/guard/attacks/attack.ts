import type { Caller } from '../../load/fixture.ts'

/** What an attack may use: one account with all rights, and for some attacks further ones. */
export interface Target {
  readonly port: number
  readonly processes: number
  readonly databaseUrl: string
  readonly attacker: Caller
  /** A key of the attacker that may only create partners. */
  readonly createOnly: Caller
  /** An account with few records, which an attack may let grow, with a key for each of its clients. */
  readonly grower: { readonly accountId: string; readonly callers: readonly Caller[] }
  readonly isQuick: boolean
}

/** One account at full force, until the signal. It runs in a process of its own. */
export interface Attack {
  /** Part of the names of its figures. */
  readonly name: string
  /** Before the other account is measured. */
  prepare?(target: Target): Promise<void>
  run(target: Target, signal: AbortSignal): Promise<void>
}
