import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { duration, progressLine, showProgress } from './progress.ts'

describe('progress', () => {
  it('has the count, rate and remaining time', () => {
    expect(progressLine('rows', { done: 250_000, fraction: 0.25, note: '3 rejected' }, 10)).toBe(
      '250,000 rows  25 %  25,000/s  30 s left  3 rejected',
    )
    expect(progressLine('rows', { done: 1_000 }, 2)).toBe('1,000 rows  500/s')
  })
  it.each([
    [0.2, '1 s'],
    [59.1, '1 min 0 s'],
    [3_700, '1 h 1 min'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text)
  })
  it('is one line on a terminal, which is cleared at the end', async () => {
    const written: string[] = []
    const output = { isTTY: true, columns: 8, write: (text: string) => written.push(text) }
    const end = showProgress(output, 'rows', () => ({ done: 12_345 }), 5)
    await sleep(30)
    end()
    expect(written[0]).toBe('\r12,345 \x1b[K')
    expect(written.at(-1)).toBe('\r\x1b[K')
  })
  it('is a line each time if the output is not a terminal', async () => {
    const written: string[] = []
    const end = showProgress({ write: (text) => written.push(text) }, 'rows', () => ({ done: 0 }), 5)
    await sleep(30)
    end()
    expect(written[0]).toBe('0 rows  0/s\n')
  })
})
