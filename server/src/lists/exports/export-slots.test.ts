import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { limits } from '../../limits/limits.ts'
import { ExportSlots, type Slot } from './export-slots.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const settled = (ms = 0) => vi.advanceTimersByTimeAsync(ms)

/** Runs exports and logs what happens to each, in order. Exports in `slow` have slow readers. */
class Simulation {
  readonly slots = new ExportSlots(limits)
  readonly log: string[] = []
  readonly slow = new Set<string>()
  readonly #slots = new Map<string, Slot>()

  /** The account is the first letter of the name. */
  async begin(name: string, signal = new AbortController().signal): Promise<void> {
    void this.#run(name, signal)
    await settled()
  }

  async end(name: string): Promise<void> {
    this.#slots.get(name)?.release()
    this.#slots.delete(name)
    await settled()
  }

  async #run(name: string, signal: AbortSignal): Promise<void> {
    try {
      const slot = await this.slots.acquire(name.slice(0, 1), signal)
      this.#slots.set(name, slot)
      slot.holder = {
        isReaderSlow: () => this.slow.has(name),
        abort: () => {
          this.log.push(`${name} aborted`)
          void this.end(name)
        },
      }
      this.log.push(`${name} runs`)
    } catch (error) {
      this.log.push(`${name} ${error instanceof Error && 'code' in error ? String(error.code) : 'failed'}`)
    }
  }
}

it('gives an account a second slot only if another remains free', async () => {
  const simulation = new Simulation()
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) await simulation.begin(name)
  expect(simulation.log).toEqual([
    'a1 runs',
    'a2 runs',
    'a3 export_limit',
    'b1 runs',
    'b2 export_limit',
    'c1 runs',
  ])
})

it('queues one export per account if all slots are occupied, and times out', async () => {
  const simulation = new Simulation()
  for (const name of ['a1', 'a2', 'b1', 'c1', 'd1', 'e1', 'd2']) await simulation.begin(name)
  expect(simulation.log.slice(4)).toEqual(['d2 export_limit'])
  await simulation.end('b1')
  expect(simulation.log.slice(5)).toEqual(['d1 runs'])
  await settled(limits.exportWaitMsMax)
  expect(simulation.log.slice(6)).toEqual(['e1 overloaded'])
})

it('aborts exports with slow readers while others wait: no more than needed, first of accounts with two', async () => {
  const simulation = new Simulation()
  for (const name of ['b1', 'a1', 'a2', 'c1']) await simulation.begin(name)
  for (const name of ['b1', 'a2', 'c1']) simulation.slow.add(name)
  await settled(60_000)
  expect(simulation.log).toHaveLength(4)
  await simulation.begin('d1')
  await settled(limits.exportCheckMs)
  expect(simulation.log.slice(4)).toEqual(['a2 aborted', 'd1 runs'])
  await settled(60_000)
  expect(simulation.log).toHaveLength(6)
})

it('removes a waiting export from the queue if its client disconnects', async () => {
  const simulation = new Simulation()
  const client = new AbortController()
  for (const name of ['a1', 'a2', 'b1', 'c1']) await simulation.begin(name)
  await simulation.begin('d1', client.signal)
  await simulation.begin('e1')
  client.abort()
  await simulation.end('c1')
  expect(simulation.log.slice(4)).toEqual(['d1 client_disconnected', 'e1 runs'])
})

it('rejects an export if the queue is full', async () => {
  const simulation = new Simulation()
  const accounts = Array.from({ length: limits.exportsInFlightMax + limits.exportsWaitingMax + 1 }, (_, n) =>
    String.fromCharCode(97 + n),
  )
  for (const account of accounts) await simulation.begin(account)
  expect(simulation.log.at(-1)).toBe(`${accounts.at(-1)} overloaded`)
  expect(simulation.log).toHaveLength(limits.exportsInFlightMax + 1)
})
