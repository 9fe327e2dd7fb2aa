import { type ListRead, listText, oneText, type Read, type Row } from './read.ts'

/**
 * What an account's partners were, step by step. A step that is begun may be seen from now on; one that was
 * acknowledged, or seen in an answer, must be seen by every request sent from now on.
 */
export interface Oracle {
  /** The oldest step that an answer to a request sent now may show. */
  readonly floor: number
  /** The newest step that may be there by now. */
  readonly ceiling: number
  /** The answer that this step gives. */
  expected(step: number, read: Read): string
  /** Whoever saw a step leaves nothing older for those who ask later. */
  reached(step: number): void
}

export type Verdict = 'right' | 'stale' | 'torn'

/**
 * An answer is right when some step between the floor at the moment of its sending and the ceiling at the moment of
 * its arrival gives it to the letter: total, page numbers and records together. One that only an older step gives is
 * stale; one that no step gives is of two versions.
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

/** An account whose writers take turns, so that every state it ever had is known beforehand, whole. */
export class Ledger implements Oracle {
  readonly #states: (readonly Row[])[]
  #floor = 0
  #lastId: number
  #turn: Promise<unknown> = Promise.resolve()

  /** So many records at its beginning stay as they are. */
  readonly still: number

  constructor(rows: readonly Row[], still = 0) {
    this.still = still
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

  /** Those that change, come and go. */
  get moving(): readonly Row[] {
    return this.rows.slice(this.still)
  }

  /** The highest id ever given, also where its record is gone: none is given again. */
  get lastId(): number {
    return this.#lastId
  }

  /** The states that the write leads through, known from its beginning; it is acknowledged when `work` ends. */
  async write(states: readonly (readonly Row[])[], work: () => Promise<void>): Promise<void> {
    this.#states.push(...states.map((rows) => rows.toSorted((a, b) => a.id - b.id)))
    this.#lastId = Math.max(this.#lastId, ...states.map(highest))
    await work()
    this.#floor = this.ceiling
  }

  /** Runs `work` when no other writer of the account is at work. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work)
    this.#turn = mine.catch(() => {})
    return mine
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
    const matching = condition === undefined ? rows : rows.filter(condition.holds)
    return listText(read, matching.slice((page - 1) * limit, page * limit), matching.length)
  }
}

function highest(rows: readonly Row[]): number {
  return rows.reduce((most, { id }) => Math.max(most, id), 0)
}

/** Ids from one on, as far as there are any. Each page is known from its place, however many records there are. */
export interface Span {
  readonly from: number
  readonly to: number
}

/**
 * An account that only grows, by any number of writers at once. Ids are given in the order of the writes, so the step
 * after n creates has the ids 1 to n. Which name has which id is learned from the acknowledgement, or from the first
 * answer that shows it, and must not be another one later.
 */
export class Growing implements Oracle {
  readonly #names = new Map<number, string>()
  #floor = 0
  #begun = 0
  /** Ids that were seen under two names. */
  doubled = 0

  get floor(): number {
    return this.#floor
  }

  get ceiling(): number {
    return this.#begun
  }

  begin(): void {
    this.#begun += 1
  }

  acknowledged(id: number, name: string): void {
    this.learn(id, name)
    this.reached(id)
  }

  learn(id: number, name: string): void {
    const known = this.#names.get(id)
    if (known === undefined) this.#names.set(id, name)
    else if (known !== name) this.doubled += 1
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
  if (operator === undefined) throw new Error(`${condition.text} is not for an account that only grows`)
  return operator === '>=' ? { from: Number(id), to: everything.to } : { from: 1, to: Number(id) }
}
