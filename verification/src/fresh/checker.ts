import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, headersFor } from '../client.ts'
import { grouped } from '../progress.ts'
import type { Random } from '../random.ts'
import { Growing, judge, type Ledger, type Oracle } from './oracle.ts'
import { missing, parametersOf, partnerPath, pathOf, type Read } from './read.ts'
import { learn, storeTag, type Tag } from './responses.ts'

/** An account that is written and read at the same time, with the oracle for its responses. */
export interface Watched<H extends Oracle = Ledger | Growing> {
  readonly name: string
  readonly key: string
  readonly oracle: H
  /** The shortest and the longest pause of a writer. With long pauses, requests are repeated between writes. */
  readonly pauseMs: readonly [number, number]
  /** The last response for each path, from any process to any reader. */
  readonly tags: Map<string, Tag>
}

/** How a read is sent. */
interface Variant {
  readonly port: number
  readonly byQuery: boolean
  /** The request is conditional. */
  readonly tag: Tag | undefined
}

/** Paths per account whose last response is stored for conditional requests. */
const tagsMax = 500

/** Sends reads and compares every response with the oracle of the account. */
export class Checker {
  readonly #client: Client
  readonly #ports: readonly number[]
  readonly faults: string[] = []
  lists = 0
  records = 0
  missing = 0
  notModified = 0
  stale = 0
  torn = 0

  constructor(client: Client, ports: readonly number[]) {
    this.#client = client
    this.#ports = ports
  }

  get checked(): number {
    return this.lists + this.records + this.missing + this.notModified
  }

  /** Sends the reads one after the other, unconditionally, to one process. After some it pauses, so that others write in between. */
  async checkInOrder(account: Watched, reads: readonly Read[], random: Random): Promise<void> {
    const port = random.pick(this.#ports)
    for (const read of reads) {
      await this.#check(account, read, { port, byQuery: false, tag: undefined })
      if (random.chance(0.5)) await sleep(random.integer(1, 300))
    }
  }

  /** Sends the read to any process, sometimes as a conditional request or with QUERY. */
  async check(account: Watched, read: Read, random: Random): Promise<void> {
    const tag = random.chance(0.7) ? account.tags.get(pathOf(read)) : undefined
    const port = random.pick(this.#ports)
    await this.#check(account, read, { port, byQuery: read.kind === 'list' && random.chance(0.1), tag })
  }

  async #check(account: Watched, read: Read, { port, byQuery, tag }: Variant): Promise<void> {
    const path = pathOf(read)
    const sent = {
      port,
      ...(byQuery
        ? { method: 'QUERY', path: partnerPath, body: parametersOf(read) }
        : { method: 'GET', path }),
      headers: [
        ...headersFor(account.name, account.key),
        ...(tag === undefined ? [] : ['If-None-Match', tag.etag]),
        ...(byQuery ? ['Content-Type', 'application/x-www-form-urlencoded'] : []),
      ],
    }
    let floor = 0
    const response = await this.#client.sendUntilAccepted(sent, () => {
      floor = account.oracle.floor
    })
    const text = this.#textOf(read, response.status, response.text, tag)
    if (text === undefined) {
      throw new Error(`${account.name} ${path}: ${response.status} ${response.text.slice(0, 300)}`)
    }
    if (response.status === 200)
      storeTag(account.tags, path, { etag: String(response.headers['etag']), text }, tagsMax)
    if (account.oracle instanceof Growing) learn(account.oracle, text)
    const verdict = judge(account.oracle, read, text, floor)
    if (verdict === 'right') return
    this[verdict] += 1
    if (this.faults.length < 10) {
      this.faults.push(
        `${verdict}: ${response.status} at port ${port}, ${account.name} ${path}, sent at step ${floor}, ` +
          `received at step ${account.oracle.ceiling}: ${text.slice(0, 300)}; ` +
          `step ${floor} gives ${account.oracle.expected(floor, read).slice(0, 300)}`,
      )
    }
  }

  /** The normalised body that the reader now has: of this response, or after a 304 of the stored one. Undefined for an unexpected status. */
  #textOf(read: Read, status: number, body: string, tag: Tag | undefined): string | undefined {
    if (status === 304 && tag !== undefined) {
      this.notModified += 1
      return tag.text
    }
    if (status === 404 && read.kind === 'one') {
      this.missing += 1
      return missing
    }
    if (status !== 200) return undefined
    if (read.kind === 'list') this.lists += 1
    else this.records += 1
    return JSON.stringify(JSON.parse(body))
  }

  summary(): string {
    const { lists, records, missing: notFound, notModified } = this
    return (
      `${grouped(lists)} lists, ${grouped(records)} records, ${grouped(notFound)} not found, ` +
      `${grouped(notModified)} not modified`
    )
  }
}
