import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, HttpResponse } from '../client.ts'
import type { Row } from '../fresh/read.ts'
import type { Random } from '../random.ts'
import { type AnyRead, expectedText, requestOf, shownBy } from './epoch-reads.ts'

/** ETags that are stored per request to send and compare later: the newest, from several branches. */
const tagsMax = 12
/** A server process must reach a database that has moved within this time. */
const reconnectMsMax = 120_000

export type Counts = Readonly<Record<'requests' | 'stale' | 'falseNotModified' | 'unavailable', number>>

/** Sends requests to all processes, and compares every response with the rows that SQL returns from the current database. */
export class EpochObserver {
  readonly #client: Client
  readonly #ports: readonly number[]
  readonly #headers: readonly string[]
  /** By request: the ETags and versions that were received, each with its body. */
  readonly #tags = new Map<string, Map<string, string>>()
  readonly faults: string[] = []
  requests = 0
  /** Requests that carried ETags of earlier branches. */
  conditional = 0
  unavailable = 0
  /** 5xx responses by status and code. */
  readonly reasons = new Map<string, number>()
  stale = 0
  falseNotModified = 0

  constructor(client: Client, ports: readonly number[], headers: readonly string[]) {
    this.#client = client
    this.#ports = ports
    this.#headers = headers
  }

  /** Sends every read to every process, once without and once with all stored ETags. Retries while a process is unavailable. */
  async observe(
    label: string,
    reads: readonly AnyRead[],
    rows: readonly Row[],
    random: Random,
  ): Promise<void> {
    for (const port of this.#ports) {
      for (const read of reads) {
        const expected = new Set([expectedText(read, rows)])
        for (const conditional of random.chance(0.5) ? [true, false] : [false, true]) {
          const until = Date.now() + reconnectMsMax
          while (!(await this.#read(label, port, read, expected, conditional))) {
            if (Date.now() > until)
              throw new Error(`${label}: no response from port ${port} within ${reconnectMsMax} ms`)
            await sleep(50)
          }
        }
      }
    }
  }

  /** While `work` runs, each response must match one of the states or be a 5xx. */
  async during(
    label: string,
    reads: readonly AnyRead[],
    states: readonly (readonly Row[])[],
    work: Promise<unknown>,
  ): Promise<void> {
    const running = { ended: false }
    const done = work.finally(() => {
      running.ended = true
    })
    // Prevents an unhandled rejection; the error is thrown by Promise.all below.
    done.catch(() => {})
    const readers = this.#ports.map(async (port) => {
      for (let at = 0; !running.ended; at++) {
        const read = reads[at % reads.length]
        if (read === undefined) return
        const expected = new Set(states.map((rows) => expectedText(read, rows)))
        await this.#read(label, port, read, expected, at % 2 === 0)
        await sleep(2)
      }
    })
    await Promise.all([...readers, done])
  }

  get counts(): Counts {
    const { requests, stale, falseNotModified, unavailable } = this
    return { requests, stale, falseNotModified, unavailable }
  }

  /** Counts a response that the caller has sent and read. */
  compare(label: string, shown: string, expected: string): void {
    this.requests += 1
    if (shown === expected) return
    this.stale += 1
    this.#addFault(`${label}: ${shown}, not ${expected}`)
  }

  /** Notes the first fault of each label. */
  #addFault(fault: string): void {
    const [label = ''] = fault.split(':')
    if (!this.faults.some((one) => one.startsWith(label))) this.faults.push(fault)
  }

  /** Returns false if the process was unavailable. */
  async #read(
    label: string,
    port: number,
    read: AnyRead,
    expected: ReadonlySet<string>,
    conditional: boolean,
  ): Promise<boolean> {
    const { path, headers } = requestOf(read)
    const name = `${path} ${headers.join()}`
    const tags = this.#tags.get(name) ?? new Map<string, string>()
    this.#tags.set(name, tags)
    const sent = conditional ? [...tags.keys()].filter((tag) => tag.startsWith('W/')) : []
    const ifNoneMatch = sent.length === 0 ? [] : ['If-None-Match', sent.join(', ')]
    const response = await this.#client.send({
      port,
      path,
      headers: [...this.#headers, ...headers, ...ifNoneMatch],
    })
    if (response.status >= 500) {
      this.unavailable += 1
      const { code }: { code?: string } = JSON.parse(response.text)
      const reason = `${response.status} ${code}`
      this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1)
      return false
    }
    this.requests += 1
    if (sent.length > 0) this.conditional += 1
    const fault = this.#judge(read, response, expected, tags)
    if (fault !== undefined)
      this.#addFault(`${label}: ${fault} at port ${port}, ${path}: ${excerpt(response, expected)}`)
    return true
  }

  #judge(
    read: AnyRead,
    response: HttpResponse,
    expected: ReadonlySet<string>,
    tags: Map<string, string>,
  ): string | undefined {
    if (response.status === 304) {
      const etag = String(response.headers['etag'])
      if (expected.has(tags.get(etag) ?? '')) return undefined
      this.falseNotModified += 1
      return `false 304 for ${etag}`
    }
    const shown = shownBy(read, response)
    const repeated = shown?.identities.find((tag) => (tags.get(tag) ?? shown.text) !== shown.text)
    for (const tag of shown?.identities ?? []) store(tags, tag, shown?.text ?? '')
    if (shown === undefined || !expected.has(shown.text)) {
      this.stale += 1
      return 'stale'
    }
    if (repeated === undefined) return undefined
    // A client that sends this ETag would get a 304 for another body.
    this.falseNotModified += 1
    return `${repeated} was used for another body`
  }
}

function store(tags: Map<string, string>, tag: string, text: string): void {
  tags.delete(tag)
  tags.set(tag, text)
  for (const oldest of tags.keys()) {
    if (tags.size <= tagsMax) return
    tags.delete(oldest)
  }
}

function excerpt({ status, text }: HttpResponse, expected: ReadonlySet<string>): string {
  const [one = ''] = expected
  let at = 0
  while (at < text.length && text[at] === one[at]) at += 1
  const from = Math.max(0, at - 60)
  return `${status} …${text.slice(from, from + 160)}…, SQL gives …${one.slice(from, from + 160)}…`
}
