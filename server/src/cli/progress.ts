/** A terminal, a pipe or, in a test, an array. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

export interface ProgressState {
  readonly done: number
  /** From 0 to 1; undefined if the total is not known. */
  readonly fraction?: number | undefined
  readonly note?: string
}

/**
 * Shows the progress of a long command: on a terminal one line that is updated, otherwise a new line every five seconds,
 * so that a log stays readable. Returns a function that ends it.
 */
export function showProgress(
  output: Output,
  noun: string,
  state: () => ProgressState,
  intervalMs = output.isTTY === true ? 100 : 5_000,
): () => void {
  const start = performance.now()
  const isTerminal = output.isTTY === true
  const show = () => {
    const line = progressLine(noun, state(), (performance.now() - start) / 1000)
    // One column less than the width, because a terminal wraps when the last column is filled.
    output.write(isTerminal ? `\r${line.slice(0, (output.columns ?? 80) - 1)}\x1b[K` : `${line}\n`)
  }
  const timer = setInterval(show, intervalMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    if (isTerminal) output.write('\r\x1b[K')
  }
}

export function progressLine(noun: string, { done, fraction, note }: ProgressState, seconds: number): string {
  const parts = [`${grouped(done)} ${noun}`]
  if (fraction !== undefined) parts.push(`${Math.floor(fraction * 100)} %`)
  parts.push(`${grouped(perSecond(done, seconds))}/s`)
  // Not in the first second, when the estimate is poor.
  if (fraction !== undefined && fraction > 0 && seconds >= 1) {
    parts.push(`${duration((seconds / fraction) * (1 - fraction))} left`)
  }
  if (note !== undefined && note !== '') parts.push(note)
  return parts.join('  ')
}

export function perSecond(count: number, seconds: number): number {
  return seconds > 0 ? Math.round(count / seconds) : 0
}

export function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

export function duration(seconds: number): string {
  const total = Math.ceil(seconds)
  if (total < 60) return `${total} s`
  if (total < 3600) return `${Math.floor(total / 60)} min ${total % 60} s`
  return `${Math.floor(total / 3600)} h ${Math.floor((total % 3600) / 60)} min`
}
