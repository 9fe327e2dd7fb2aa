import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { limits } from '../../limits.ts'
import { ExportSlots, type Slot } from './export-slots.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const settled = (ms = 0) => vi.advanceTimersByTimeAsync(ms)

/** What became of each export, in order; those in `slow` have readers that take little. */
class Exporting {
  readonly slots = new ExportSlots(limits)
  readonly log: string[] = []
  readonly slow = new Set<string>()
  readonly #held = new Map<string, Slot>()

  /** The account is the first letter of the name. */
  async begin(name: string, signal = new AbortController().signal): Promise<void> {
    void this.#run(name, signal)
    await settled()
  }

  async end(name: string): Promise<void> {
    this.#held.get(name)?.release()
    this.#held.delete(name)
    await settled()
  }

  async #run(name: string, signal: AbortSignal): Promise<void> {
    try {
      const slot = await this.slots.take(name.slice(0, 1), signal)
      this.#held.set(name, slot)
      slot.holder = {
        isReaderSlow: () => this.slow.has(name),
        giveUp: () => {
          this.log.push(`${name} gave up`)
          void this.end(name)
        },
      }
      this.log.push(`${name} runs`)
    } catch (error) {
      this.log.push(`${name} ${error instanceof Error && 'code' in error ? String(error.code) : 'broke'}`)
    }
  }
}

it('an account takes a second slot only while another stays free', async () => {
  const exporting = new Exporting()
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) await exporting.begin(name)
  expect(exporting.log).toEqual([
    'a1 runs',
    'a2 runs',
    'a3 export_limit',
    'b1 runs',
    'b2 export_limit',
    'c1 runs',
  ])
})

it('with all slots taken, one export of each account waits in order, and not for ever', async () => {
  const exporting = new Exporting()
  for (const name of ['a1', 'a2', 'b1', 'c1', 'd1', 'e1', 'd2']) await exporting.begin(name)
  expect(exporting.log.slice(4)).toEqual(['d2 export_limit'])
  await exporting.end('b1')
  expect(exporting.log.slice(5)).toEqual(['d1 runs'])
  await settled(limits.exportWaitMsMax)
  expect(exporting.log.slice(6)).toEqual(['e1 overloaded'])
})

it('exports of slow readers end while others wait: no more than needed, first of accounts that have two', async () => {
  const exporting = new Exporting()
  for (const name of ['b1', 'a1', 'a2', 'c1']) await exporting.begin(name)
  for (const name of ['b1', 'a2', 'c1']) exporting.slow.add(name)
  await settled(60_000)
  expect(exporting.log).toHaveLength(4)
  await exporting.begin('d1')
  await settled(limits.exportCheckMs)
  expect(exporting.log.slice(4)).toEqual(['a2 gave up', 'd1 runs'])
  await settled(60_000)
  expect(exporting.log).toHaveLength(6)
})

it('one that hangs up while it waits leaves its place', async () => {
  const exporting = new Exporting()
  const client = new AbortController()
  for (const name of ['a1', 'a2', 'b1', 'c1']) await exporting.begin(name)
  await exporting.begin('d1', client.signal)
  await exporting.begin('e1')
  client.abort()
  await exporting.end('c1')
  expect(exporting.log.slice(4)).toEqual(['d1 client_disconnected', 'e1 runs'])
})

it('no more wait than may', async () => {
  const exporting = new Exporting()
  const accounts = Array.from({ length: limits.exportsInFlightMax + limits.exportsWaitingMax + 1 }, (_, n) =>
    String.fromCharCode(97 + n),
  )
  for (const account of accounts) await exporting.begin(account)
  expect(exporting.log.at(-1)).toBe(`${accounts.at(-1)} overloaded`)
  expect(exporting.log).toHaveLength(limits.exportsInFlightMax + 1)
})
