import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { limits } from '../../limits/limits.ts'
import { firstServer } from './first-server.ts'

/** What a server does when a connection to it is opened. Tests change it between two attempts. */
type Behaviour = 'primary' | 'standby' | 'down' | 'silent'

class Servers {
  readonly behaviours: Record<string, Behaviour>
  readonly opened: string[] = []
  readonly discarded: string[] = []
  readonly aborted: string[] = []
  /** Each makes one silent server respond. */
  readonly respond: (() => void)[] = []

  constructor(behaviours: Record<string, Behaviour>) {
    this.behaviours = behaviours
  }

  async open(url: string, signal: AbortSignal): Promise<string> {
    this.opened.push(url)
    signal.addEventListener('abort', () => this.aborted.push(url))
    if (this.behaviours[url] === 'down') throw new Error(`${url} refuses connections`)
    if (this.behaviours[url] === 'silent') await new Promise<void>((resolve) => this.respond.push(resolve))
    return url
  }

  accept(url: string): void {
    if (this.behaviours[url] === 'standby') throw new Error(`${url} is a standby`)
  }

  discard(url: string): void {
    this.discarded.push(url)
  }
}

describe('firstServer', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })

  afterEach(() => {
    vi.useRealTimers()
  })

  it('tries the preferred server first, and no other if it responds', async () => {
    const servers = new Servers({ a: 'primary', b: 'primary' })
    expect(await firstServer(['a', 'b'], 1, servers)).toEqual(['b', 1])
    await vi.advanceTimersByTimeAsync(limits.nextServerDelayMs * 3)
    expect(servers.opened).toEqual(['b'])
  })

  it('tries the next server at once after a refused connection and after a standby', async () => {
    const servers = new Servers({ a: 'down', b: 'standby', c: 'primary' })
    expect(await firstServer(['a', 'b', 'c'], 0, servers)).toEqual(['c', 2])
    expect(servers.discarded).toEqual(['b'])
  })

  it('rejects when every server has failed, with the error of a standby rather than of a server that is down', async () => {
    for (const preferred of [0, 1]) {
      const servers = new Servers({ a: 'standby', b: 'down' })
      await expect(firstServer(['a', 'b'], preferred, servers)).rejects.toThrow('a is a standby')
      expect(servers.opened.toSorted()).toEqual(['a', 'b'])
    }
  })

  it('tries the next server while the first does not respond', async () => {
    const servers = new Servers({ a: 'silent', b: 'primary' })
    const first = firstServer(['a', 'b'], 0, servers)
    await vi.advanceTimersByTimeAsync(limits.nextServerDelayMs)
    expect(await first).toEqual(['b', 1])
  })

  it('aborts the other attempts when a connection is accepted', async () => {
    const servers = new Servers({ a: 'silent', b: 'standby', c: 'primary', d: 'primary' })
    const first = firstServer(['a', 'b', 'c', 'd'], 0, servers)
    await vi.advanceTimersByTimeAsync(limits.nextServerDelayMs)
    expect(await first).toEqual(['c', 2])
    expect(servers.aborted).toEqual(['a'])
  })

  it('finds a standby that is promoted while another server does not respond', async () => {
    const servers = new Servers({ a: 'silent', b: 'standby' })
    const first = firstServer(['a', 'b'], 0, servers)
    await vi.advanceTimersByTimeAsync(limits.nextServerDelayMs * 2)
    expect(servers.opened).toEqual(['a', 'b', 'b'])
    servers.behaviours['b'] = 'primary'
    await vi.advanceTimersByTimeAsync(limits.nextServerDelayMs)
    expect(await first).toEqual(['b', 1])
  })

  it('closes a connection that is opened after another one was accepted', async () => {
    const servers = new Servers({ a: 'silent', b: 'primary' })
    const first = firstServer(['a', 'b'], 0, servers)
    await vi.advanceTimersByTimeAsync(limits.nextServerDelayMs)
    await first
    for (const respond of servers.respond) respond()
    await vi.advanceTimersByTimeAsync(0)
    expect(servers.discarded).toEqual(['a'])
  })

  it('tries the only server once', async () => {
    const servers = new Servers({ a: 'silent' })
    const first = firstServer(['a'], 0, servers)
    await vi.advanceTimersByTimeAsync(limits.nextServerDelayMs * 5)
    for (const respond of servers.respond) respond()
    expect(await first).toEqual(['a', 0])
    expect(servers.opened).toEqual(['a'])
  })
})
