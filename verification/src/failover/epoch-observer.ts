import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Client } from '../client.ts'
import type { Row } from '../fresh/read.ts'
import type { Random } from '../random.ts'
import { type AnyRead, expectedText, requestOf, shownBy } from './epoch-reads.ts'

/** What was received for one request and is compared with later answers: the newest, some per branch. */
const tagsMax = 12
/** A process finds a database that has moved within this time. */
const patienceMs = 120_000

export type Counts = Readonly<Record<'requests' | 'stale' | 'falseNotModified' | 'unavailable', number>>

/** Asks processes, and compares every answer with what SQL says of the database of the moment. */
export class EpochObserver {
  readonly #client: Client
  readonly #ports: readonly number[]
  readonly #headers: readonly string[]
  /** By request: what identified the states that were received (ETags and versions), and the body of each. */
  readonly #tags = new Map<string, Map<string, string>>()
  readonly faults: string[] = []
  requests = 0
  /** Requests that carried ETags of earlier branches. */
  conditional = 0
  unavailable = 0
  /** Answers while a process was unavailable, by status and code. */
  readonly reasons = new Map<string, number>()
  stale = 0
  falseNotModified = 0

  constructor(client: Client, ports: readonly number[], headers: readonly string[]) {
    this.#client = client
    this.#ports = ports
    this.#headers = headers
  }

  /** Every read at every process, once plainly and once with all ETags. A process may be unavailable for a while. */
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
          const until = Date.now() + patienceMs
          while (!(await this.#look(label, port, read, expected, conditional))) {
            if (Date.now() > until)
              throw new Error(`${label}: no answer from port ${port} in ${patienceMs} ms`)
            await sleep(50)
          }
        }
      }
    }
  }

  /** While `work` runs, each answer is what one of the states gives, or an error of the server. */
  async during(
    label: string,
    reads: readonly AnyRead[],
    states: readonly (readonly Row[])[],
    work: Promise<unknown>,
  ): Promise<void> {
    const clock = { ended: false }
    const done = work.finally(() => {
      clock.ended = true
    })
    // Thrown below, where it is waited for.
    done.catch(() => {})
    const lanes = this.#ports.map(async (port) => {
      for (let at = 0; !clock.ended; at++) {
        const read = reads[at % reads.length]
        if (read === undefined) return
        const expected = new Set(states.map((rows) => expectedText(read, rows)))
        await this.#look(label, port, read, expected, at % 2 === 0)
        await sleep(2)
      }
    })
    await Promise.all([...lanes, done])
  }

  get counts(): Counts {
    const { requests, stale, falseNotModified, unavailable } = this
    return { requests, stale, falseNotModified, unavailable }
  }

  /** An answer that was read elsewhere. */
  compare(label: string, shown: string, expected: string): void {
    this.requests += 1
    if (shown === expected) return
    this.stale += 1
    this.#note(`${label}: ${shown}, not ${expected}`)
  }

  /** One for each label is enough for the note. */
  #note(fault: string): void {
    const [label = ''] = fault.split(':')
    if (!this.faults.some((one) => one.startsWith(label))) this.faults.push(fault)
  }

  /** Whether there was an answer to compare. */
  async #look(
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
    const given = sent.length === 0 ? [] : ['If-None-Match', sent.join(', ')]
    const answer = await this.#client.ask({ port, path, headers: [...this.#headers, ...headers, ...given] })
    if (answer.status >= 500) {
      this.unavailable += 1
      const { code }: { code?: string } = JSON.parse(answer.text)
      const reason = `${answer.status} ${code}`
      this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1)
      return false
    }
    this.requests += 1
    if (sent.length > 0) this.conditional += 1
    const fault = this.#judge(read, answer, expected, tags)
    if (fault !== undefined)
      this.#note(`${label}: ${fault} at port ${port}, ${path}: ${excerpt(answer, expected)}`)
    return true
  }

  #judge(
    read: AnyRead,
    answer: Answer,
    expected: ReadonlySet<string>,
    tags: Map<string, string>,
  ): string | undefined {
    if (answer.status === 304) {
      const etag = String(answer.headers['etag'])
      if (expected.has(tags.get(etag) ?? '')) return undefined
      this.falseNotModified += 1
      return `false 304 for ${etag}`
    }
    const shown = shownBy(read, answer)
    const repeated = shown?.identities.find((tag) => (tags.get(tag) ?? shown.text) !== shown.text)
    for (const tag of shown?.identities ?? []) remember(tags, tag, shown?.text ?? '')
    if (shown === undefined || !expected.has(shown.text)) {
      this.stale += 1
      return 'stale'
    }
    if (repeated === undefined) return undefined
    // Whoever sends it gets a 304 for something else.
    this.falseNotModified += 1
    return `${repeated} has identified another state`
  }
}

function remember(tags: Map<string, string>, tag: string, text: string): void {
  tags.delete(tag)
  tags.set(tag, text)
  for (const oldest of tags.keys()) {
    if (tags.size <= tagsMax) return
    tags.delete(oldest)
  }
}

function excerpt({ status, text }: Answer, expected: ReadonlySet<string>): string {
  const [one = ''] = expected
  let at = 0
  while (at < text.length && text[at] === one[at]) at += 1
  const from = Math.max(0, at - 60)
  return `${status} …${text.slice(from, from + 160)}…, SQL gives …${one.slice(from, from + 160)}…`
}
