import type { Progress } from './progress.ts'

/** One measured claim: a line of the output. */
export interface Check {
  readonly name: string
  /** What the value is held against, as it is printed. */
  readonly bound: string
  run(context: Context): Promise<Outcome>
}

export interface Outcome {
  readonly value: string
  readonly ok: boolean
  /** What a reader needs when it is short: the first cases, the seed. Goes to stderr and into the JSON. */
  readonly note?: string
}

export interface Context {
  readonly quick: boolean
  readonly seed: number
  /** `full` as the claim states it, `quick` under --quick. */
  size(full: number, quick: number): number
  progress(label: string, total: number): Progress
  log(line: string): void
  /** What is to be stopped after the last check. */
  atEnd(stop: () => Promise<void>): void
}

export interface Stoppable {
  stop(): Promise<void>
}

/** Something that several checks of a run use: started by the first that needs it, stopped after the last. */
export function shared<T extends Stoppable>(
  start: (context: Context) => Promise<T>,
): (context: Context) => Promise<T> {
  const started = new WeakMap<Context, Promise<T>>()
  return (context) => {
    const found = started.get(context)
    if (found !== undefined) return found
    const made = start(context)
    started.set(context, made)
    context.atEnd(async () => {
      // Where it did not start there is nothing to stop, and the check has told why.
      const it = await made.catch(() => undefined)
      await it?.stop()
    })
    return made
  }
}
