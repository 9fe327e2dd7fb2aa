import type { Progress } from './progress.ts'

/** One claim that is verified or measured. It prints one line. */
export interface Check {
  readonly name: string
  /** The value that must be reached, as it is printed. */
  readonly bound: string
  /** Whether it observes a page while the page changes, so that a busy machine can fail it. Then --retry repeats it, too. */
  readonly dependsOnTime?: boolean
  /** Without one of these, the check is skipped. Whatever else prevents it fails it. */
  readonly needs?: readonly Capability[]
  run(context: Context): Promise<Outcome>
}

/** What a machine may lack. `capabilities.ts` finds out. */
export type Capability =
  | 'namespaces'
  | 'mounts'
  | 'citus'
  | 'chromium'
  | 'containers'
  | 'container-names'
  | 'pg_dump'
  | 'history'
  | 'odoo'
  | 'curl'
  | 'haproxy'
  | 'java'
  | 'kubectl'
  | 'nginx'
  | 'openssl'
  | 'pg_isready'
  | 'pgbackrest'
  | 'podman-compose'
  | 'psql'
  | 'redis-cli'
  | 'redis-server'
  | 'systemd-analyze'

/** What a check that ran to its end has found. It cannot skip itself. */
export interface Outcome {
  readonly value: string
  readonly ok: boolean
  /**
   * What the value rests on: the responses that were compared, rows that were counted, steps that were taken. If several kinds of
   * evidence are needed, the rarest. Without any, the check has failed, whatever `ok` is.
   */
  readonly samples: number
  /** Details for stderr and the JSON results: the first failed cases, the seed. */
  readonly note?: string
}

export interface Context {
  readonly quick: boolean
  readonly seed: number
  /** 2 for the checks that --retry runs again. */
  readonly attempt: number
  /** The number of faults of the suite `chaos`, if it was given. */
  readonly faults?: number
  /** The names of these faults, if they were given. */
  readonly kinds?: readonly string[]
  /** Whether the plots in docs/ are replaced. */
  readonly plots?: boolean
  /** `full` for the size that the claim states, `quick` with --quick. */
  size(full: number, quick: number): number
  progress(label: string, total: number): Progress
  log(line: string): void
  /** Registers what is stopped after the last check. */
  atEnd(stop: () => Promise<void>): void
}

export interface Stoppable {
  stop(): Promise<void>
}

/** A fixture that several checks of a run share: the first one that needs it starts it, and it is stopped after the last. */
export function shared<T extends Stoppable>(
  start: (context: Context) => Promise<T>,
): (context: Context) => Promise<T> {
  const started = new WeakMap<Context, Promise<T>>()
  return (context) => {
    const found = started.get(context)
    if (found !== undefined) return found
    const starting = start(context)
    started.set(context, starting)
    // If the start fails, the check reports the error, and the next check tries again.
    starting.then(
      (fixture) => context.atEnd(() => fixture.stop()),
      () => started.delete(context),
    )
    return starting
  }
}
