import { type ListRead, listText, oneText, type Read, type Row } from './read.ts'

/**
 * The states of an account's partners, by step. A write that was sent may be visible from then on. Once it is acknowledged,
 * or visible in a response, every request that is sent later must see it.
 */
export interface Oracle {
  /** The oldest step that the response to a request sent now may show. */
  readonly floor: number
  /** The newest step that may be visible now. */
  readonly ceiling: number
  /** The response at this step. */
  expected(step: number, read: Read): string
  /** A response has shown this step: requests that are sent later may show no older one. */
  reached(step: number): void
}

export type Verdict = 'right' | 'stale' | 'torn'

/**
 * A response is right if it equals, with total, page numbers and records, the expected response of a step between the floor
 * when the request was sent and the ceiling when the response arrived. If it equals only that of an older step, it is
 * stale. If it equals none, it mixes two versions and is torn.
 */
export function judge(oracle: Oracle, read: Read, text: string, floorWhenSent: number): Verdict {
  for (let step = floorWhenSent; step <= oracle.ceiling; step++) {
    if (oracle.expected(step, read) !== text) continue
    oracle.reached(step)
    return 'right'
  }
  for (let step = floorWhenSent - 1; step >= 0; step--)
    if (oracle.expected(step, read) === text) return 'stale'
  return 'torn'
}

/** An account whose writers write one at a time, so that every state is known completely before it is written. */
export class Ledger implements Oracle {
  readonly #states: (readonly Row[])[]
  #floor = 0
  #lastId: number
  #lastWriter: Promise<unknown> = Promise.resolve()

  /** The number of records at the beginning that never change. */
  readonly fixedRecords: number

  constructor(rows: readonly Row[], fixedRecords = 0) {
    this.fixedRecords = fixedRecords
    this.#states = [rows]
    this.#lastId = highest(rows)
  }

  get floor(): number {
    return this.#floor
  }

  get ceiling(): number {
    return this.#states.length - 1
  }

  get rows(): readonly Row[] {
    return this.#states[this.ceiling] ?? []
  }

  /** The records that are updated, inserted and deleted. */
  get changing(): readonly Row[] {
    return this.rows.slice(this.fixedRecords)
  }

  /** The highest id ever assigned, even if its record was deleted: ids are not reused. */
  get lastId(): number {
    return this.#lastId
  }

  /** Adds the states that the write passes through, before it is sent. When `work` ends, the write is acknowledged. */
  async write(states: readonly (readonly Row[])[], work: () => Promise<unknown>): Promise<void> {
    this.#states.push(...states.map((rows) => rows.toSorted((a, b) => a.id - b.id)))
    this.#lastId = Math.max(this.#lastId, ...states.map(highest))
    await work()
    this.#floor = this.ceiling
  }

  /** Runs `work` after the other writers of the account. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#lastWriter.then(work)
    this.#lastWriter = result.catch(() => {})
    return result
  }

  reached(step: number): void {
    this.#floor = Math.max(this.#floor, step)
  }

  expected(step: number, read: Read): string {
    const rows = this.#states[step] ?? []
    if (read.kind === 'one')
      return oneText(
        read,
        rows.find(({ id }) => id === read.id),
      )
    const { condition, page, limit } = read
    const matching = condition === undefined ? rows : rows.filter(condition.matches)
    return listText(read, matching.slice((page - 1) * limit, page * limit), matching.length)
  }
}

function highest(rows: readonly Row[]): number {
  return rows.reduce((most, { id }) => Math.max(most, id), 0)
}

/** A range of ids, inclusive. Ids have no gaps, so that each page can be computed. */
export interface Span {
  readonly from: number
  readonly to: number
}

/**
 * An account to which any number of concurrent writers only add records. Ids are assigned in the order of the writes, so that
 * after n creates there are the ids 1 to n. The name of an id is learned from the acknowledgement, or from the first
 * response that contains it, and must never change.
 */
export class Growing implements Oracle {
  readonly #names = new Map<number, string>()
  #floor = 0
  #sent = 0
  /** Ids that were seen with two names. */
  duplicated = 0

  get floor(): number {
    return this.#floor
  }

  get ceiling(): number {
    return this.#sent
  }

  begin(): void {
    this.#sent += 1
  }

  acknowledged(id: number, name: string): void {
    this.learn(id, name)
    this.reached(id)
  }

  learn(id: number, name: string): void {
    const known = this.#names.get(id)
    if (known === undefined) this.#names.set(id, name)
    else if (known !== name) this.duplicated += 1
  }

  reached(step: number): void {
    this.#floor = Math.max(this.#floor, step)
  }

  expected(step: number, read: Read): string {
    if (read.kind === 'one') return oneText(read, read.id <= step ? this.#row(read.id) : undefined)
    const { from, to } = spanOf(read)
    const last = Math.min(to, step)
    const total = Math.max(0, last - from + 1)
    const first = from + (read.page - 1) * read.limit
    const count = Math.max(0, Math.min(read.limit, last - first + 1))
    const rows = Array.from({ length: count }, (_, at) => this.#row(first + at))
    return listText(read, rows, total)
  }

  #row(id: number): Row {
    const name = this.#names.get(id) ?? ''
    return { id, name, is_company: false, is_customer: false, email: null, phone: null }
  }
}

const everything: Span = { from: 1, to: Number.POSITIVE_INFINITY }

function spanOf({ condition }: ListRead): Span {
  if (condition === undefined) return everything
  const [, operator, id] = /^id(>=|<=)(\d+)$/.exec(condition.text) ?? []
  if (operator === undefined) throw new Error(`${condition.text} is not supported for a growing account`)
  return operator === '>=' ? { from: Number(id), to: everything.to } : { from: 1, to: Number(id) }
}
