import { Conflict, CursorExpired, NotFound } from '@quartermaster/client'
import type { RecordHere, Records } from './records.ts'
import type { State } from './state.ts'
import type { Status } from './status.ts'
import type { Key } from './values.ts'

export type Given =
  | { readonly id: number; readonly key: Key }
  | { readonly id: number; readonly fault: string }

export interface BirthTarget {
  /** Records that the source is given at once. */
  readonly batch: number
  /**
   * Creates the records in the source, in their order, unless it has them already, and returns what it calls each. A record that it does
   * not accept has a fault, and the others are created nevertheless. Sent again after a lost response, no record is created twice.
   */
  give(records: readonly RecordHere[]): Promise<readonly Given[]>
}

/**
 * Gives the source what was created here: every record without a key, in the order of the feed. The position moves only after the keys are
 * stored, so after a kill the same records are given again, which the source recognises. This runs before each poll: the poll never meets
 * a record that was born here and has no key yet.
 */
export class Births {
  readonly #records: Records
  readonly #keyField: string
  readonly #options: { readonly fields: readonly string[]; readonly filter: string }
  readonly #target: BirthTarget
  readonly #state: State
  readonly #status: Status
  readonly #save: () => void

  constructor(
    records: Records,
    { keyField, fields, filter }: { keyField: string; fields: readonly string[]; filter: string | undefined },
    target: BirthTarget,
    { state, status, save }: { state: State; status: Status; save: () => void },
  ) {
    this.#records = records
    this.#keyField = keyField
    const isOwn = `${keyField}=null`
    this.#options = {
      fields: ['id', ...fields],
      filter: filter === undefined ? isOwn : `${isOwn}&(${filter})`,
    }
    this.#target = target
    this.#state = state
    this.#status = status
    this.#save = save
  }

  /** Returns the number of records that were given. */
  async step(): Promise<number> {
    try {
      return await this.#step()
    } catch (error) {
      if (!(error instanceof CursorExpired)) throw error
      this.#state.births = null
      return await this.#step()
    }
  }

  async #step(): Promise<number> {
    const { filter } = this.#options
    const since = this.#state.births?.filter === filter ? this.#state.births.cursor : undefined
    const feed = this.#records.changes({ ...this.#options, since })
    let waiting: RecordHere[] = []
    let given = 0
    for (;;) {
      const next = await feed.next()
      if (next.done !== true) {
        if ('record' in next.value) waiting.push(next.value.record)
        // Deleted, or linked by somebody else.
        else delete this.#status.births.refused[next.value.id]
      }
      if (waiting.length >= this.#target.batch || (next.done === true && waiting.length > 0)) {
        given += await this.#give(waiting)
        waiting = []
      }
      // The cursor of a change lies before what still waits, or before its page: a part of it may come again.
      const cursor = next.done === true ? next.value : waiting.length === 0 ? next.value.cursor : undefined
      if (cursor !== undefined && cursor !== this.#state.births?.cursor) {
        this.#state.births = { filter, cursor }
        this.#save()
      }
      if (next.done === true) return given
    }
  }

  async #give(records: readonly RecordHere[]): Promise<number> {
    let count = 0
    const { births } = this.#status
    for (const answer of await this.#target.give(records)) {
      const fault =
        'key' in answer
          ? await linkRecord(this.#records, this.#keyField, answer.id, answer.key)
          : answer.fault
      if (fault === undefined) {
        count++
        delete births.refused[answer.id]
      } else births.refused[answer.id] = fault
    }
    births.given += count
    return count
  }
}

/** Stores what the source calls a record. Returns why that is not possible. */
export async function linkRecord(
  records: Records,
  keyField: string,
  id: number,
  key: Key,
): Promise<string | undefined> {
  try {
    await records.update(id, { [keyField]: key })
    return undefined
  } catch (error) {
    if (error instanceof NotFound) return `It was deleted here while it was created in the source, as ${key}.`
    if (error instanceof Conflict && error.code === 'key_taken')
      return `The source has merged it into ${key}, which another record here stands for.`
    throw error
  }
}
