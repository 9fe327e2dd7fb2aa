import type { Client } from '../client.ts'
import { grouped } from '../progress.ts'
import type { Random } from '../random.ts'
import { Growing, judge, type Ledger, type Oracle } from './oracle.ts'
import { missing, parametersOf, partnerPath, pathOf, type Read } from './read.ts'

/** An account that is written and read at once, and what is known of it. */
export interface Watched<H extends Oracle = Ledger | Growing> {
  readonly name: string
  readonly key: string
  readonly oracle: H
  /** The shortest and the longest rest of a writer: in a calm account answers are asked again unchanged. */
  readonly restMs: readonly [number, number]
  /** What was last seen at a path, whoever saw it there, on whichever process. */
  readonly tags: Map<string, Tag>
}

interface Tag {
  readonly etag: string
  readonly text: string
}

/** Paths whose last answer is kept for a conditional request, in each account. */
const tagsMax = 500

/** Sends reads and holds every answer against the oracle of the account. */
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

  async check(account: Watched, read: Read, random: Random): Promise<void> {
    const path = pathOf(read)
    const tag = random.chance(0.7) ? account.tags.get(path) : undefined
    const port = random.pick(this.#ports)
    const byQuery = read.kind === 'list' && random.chance(0.1)
    const floor = account.oracle.floor
    const answer = await this.#client.ask({
      port,
      ...(byQuery
        ? { method: 'QUERY', path: partnerPath, body: parametersOf(read) }
        : { method: 'GET', path }),
      headers: [
        ...headersOf(account),
        ...(tag === undefined ? [] : ['If-None-Match', tag.etag]),
        ...(byQuery ? ['Content-Type', 'application/x-www-form-urlencoded'] : []),
      ],
    })
    const text = this.#textOf(read, answer.status, answer.text, tag)
    if (text === undefined) {
      throw new Error(`${account.name} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`)
    }
    if (answer.status === 200) this.#remember(account, path, { etag: String(answer.headers['etag']), text })
    if (account.oracle instanceof Growing) learn(account.oracle, text)
    const verdict = judge(account.oracle, read, text, floor)
    if (verdict === 'right') return
    this[verdict] += 1
    if (this.faults.length < 10) {
      this.faults.push(
        `${verdict}: ${answer.status} at port ${port}, ${account.name} ${path}, sent at step ${floor}, ` +
          `answered by step ${account.oracle.ceiling}: ${text.slice(0, 300)}; ` +
          `step ${floor} gives ${account.oracle.expected(floor, read).slice(0, 300)}`,
      )
    }
  }

  /** What the reader has before its eyes now, in one form; undefined where nothing of the kind was expected. */
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

  #remember({ tags }: Watched, path: string, tag: Tag): void {
    tags.delete(path)
    tags.set(path, tag)
    if (tags.size <= tagsMax) return
    for (const oldest of tags.keys()) {
      tags.delete(oldest)
      return
    }
  }

  summary(): string {
    const { lists, records, missing: gone, notModified } = this
    return (
      `${grouped(lists)} lists, ${grouped(records)} records, ${grouped(gone)} not found, ` +
      `${grouped(notModified)} not modified`
    )
  }
}

export function headersOf({ name, key }: { readonly name: string; readonly key: string }): string[] {
  return ['Host', `${name}.localhost`, 'Authorization', `Bearer ${key}`]
}

interface Named {
  readonly id?: number
  readonly name?: string
}

function learn(oracle: Growing, text: string): void {
  if (text === missing) return
  const { data }: { data: Named | readonly Named[] } = JSON.parse(text)
  for (const { id, name } of [data].flat()) if (id !== undefined && name !== undefined) oracle.learn(id, name)
}
