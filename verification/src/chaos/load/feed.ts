import { setTimeout as sleep } from 'node:timers/promises'
import { partnerPath } from '../../fresh/read.ts'
import type { Random } from '../../random.ts'
import type { LoadAccount } from './messages.ts'
import type { Sender } from './sender.ts'

const pollMs = [200, 500] as const
const pageSize = 200

interface Page {
  readonly data: readonly {
    readonly change: string
    readonly id: number
    readonly version: number
    readonly record?: { readonly name: string }
  }[]
  readonly meta: { readonly more: boolean }
  readonly cursor: string
}

/** A consumer of the change feed of one account, which asks any server. Its copy must equal the table at the end. */
export class FeedCopy {
  readonly names = new Map<number, string>()
  readonly #account: LoadAccount
  readonly #sender: Sender
  readonly #random: Random
  #cursor: string | undefined
  #version = 0
  #lastCreated = 0

  constructor(account: LoadAccount, sender: Sender, random: Random) {
    this.#account = account
    this.#sender = sender
    this.#random = random
  }

  async follow(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      if (!(await this.#next())) await sleep(this.#random.integer(...pollMs))
    }
  }

  /** Reads until nothing is left, after the last write. */
  async catchUp(): Promise<void> {
    for (let empty = 0; empty < 2; ) {
      const size = this.#version
      const more = await this.#next()
      empty = more || this.#version !== size ? 0 : empty + 1
      if (!more) await sleep(100)
    }
  }

  /** Requests a page. Returns whether there are more, or if the request failed. */
  async #next(): Promise<boolean> {
    const since = this.#cursor === undefined ? '' : `&since=${this.#cursor}`
    const path = `${partnerPath}/changes?limit=${pageSize}&fields=name${since}`
    const server = this.#random.pick(this.#sender.servers)
    let more = false
    const { status } = await this.#sender.send(this.#account, server, { kind: 'feed', path }, (response) => {
      if (response.status === 410) {
        this.#restart()
        return `the cursor expired: ${this.#account.name}`
      }
      if (response.status !== 200) return undefined
      const page: Page = JSON.parse(response.text)
      more = page.meta.more
      return this.#apply(page)
    })
    if (status === 200 || status === 410) return more
    await sleep(this.#random.integer(...pollMs))
    return true
  }

  #restart(): void {
    this.#cursor = undefined
    this.#version = 0
    this.#lastCreated = 0
    this.names.clear()
  }

  #apply({ data, cursor }: Page): string | undefined {
    let wrong: string | undefined
    for (const { change, id, version, record } of data) {
      if (version < this.#version) wrong = `the feed went back from version ${this.#version} to ${version}`
      this.#version = version
      if (change === 'deleted') this.names.delete(id)
      else this.names.set(id, record?.name ?? '')
      if (this.#account.kind === 'change' || this.#account.kind === 'batch') continue
      // Ids have no gaps here, and nothing is changed or deleted.
      if (id > this.#lastCreated + 1) wrong = `the feed skipped from ${this.#lastCreated} to ${id}`
      this.#lastCreated = Math.max(this.#lastCreated, id)
    }
    this.#cursor = cursor
    return wrong === undefined ? undefined : `${this.#account.name}: ${wrong}`
  }
}
