/** Reports the rate and the remaining time on stderr: at most once a second on a terminal, otherwise every 10 s. */
export interface Progress {
  step(count?: number): void
  end(): void
}

export function progressTo(
  stream: { write(text: string): unknown; readonly isTTY?: boolean },
  label: string,
  total: number,
): Progress {
  const started = performance.now()
  const everyMs = stream.isTTY ? 1_000 : 10_000
  let done = 0
  let shown = started
  const text = () => {
    const seconds = (performance.now() - started) / 1000
    const rate = done / Math.max(seconds, 0.001)
    const left = done === 0 ? '?' : `${Math.max(0, Math.ceil((total - done) / rate))} s`
    return `${label}: ${grouped(done)} of ${grouped(total)}, ${grouped(Math.round(rate))}/s, ${left} left`
  }
  const show = () => stream.write(stream.isTTY ? `\r\x1b[K${text()}` : `${text()}\n`)
  return {
    step(count = 1) {
      done += count
      if (performance.now() - shown < everyMs) return
      shown = performance.now()
      show()
    },
    end() {
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      stream.write(`${stream.isTTY ? '\r\x1b[K' : ''}${label}: ${grouped(done)} in ${seconds} s\n`)
    },
  }
}

export function grouped(count: number): string {
  return count.toLocaleString('en-US')
}
