/** Where a command writes: a terminal, a pipe or, in a test, an array. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

/** How far the work is, asked whenever it is shown. */
export interface ProgressState {
  readonly done: number
  /** From 0 to 1; unknown where nobody knows how much there is. */
  readonly fraction?: number | undefined
  /** What else is worth a few words. */
  readonly note?: string
}

/**
 * Shows how far a long command is: on a terminal one line that is kept up to date, elsewhere a line every five
 * seconds, so that a log stays readable. Without colour in any case. Returns what ends it.
 */
export function showProgress(
  output: Output,
  noun: string,
  state: () => ProgressState,
  intervalMs = output.isTTY === true ? 100 : 5_000,
): () => void {
  const start = performance.now()
  const live = output.isTTY === true
  const show = () => {
    const line = progressLine(noun, state(), (performance.now() - start) / 1000)
    // One column less than there are: a terminal wraps when the last one is filled.
    output.write(live ? `\r${line.slice(0, (output.columns ?? 80) - 1)}\x1b[K` : `${line}\n`)
  }
  const timer = setInterval(show, intervalMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    if (live) output.write('\r\x1b[K')
  }
}

export function progressLine(noun: string, { done, fraction, note }: ProgressState, seconds: number): string {
  const parts = [`${grouped(done)} ${noun}`]
  if (fraction !== undefined) parts.push(`${Math.floor(fraction * 100)} %`)
  parts.push(`${grouped(perSecond(done, seconds))}/s`)
  // The first second says little about the rest.
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
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}
