import { setTimeout as sleep } from 'node:timers/promises'
import { Growing, judge, type Ledger } from '../../fresh/oracle.ts'
import { missing, pathOf } from '../../fresh/read.ts'
import { anyRead } from '../../fresh/readers.ts'
import { learn, storeTag, type Tag } from '../../fresh/responses.ts'
import type { Random } from '../../random.ts'
import type { LoadAccount } from './messages.ts'
import type { Sender } from './sender.ts'

/** An account that is written and read at the same time. */
export interface Watched {
  readonly account: LoadAccount
  readonly oracle: Ledger | Growing
  /** By path, the last response of any server: for conditional requests. */
  readonly tags: Map<string, Tag>
}

const tagsMax = 300

/** Reads lists and records from any server. A response must equal a state between the last acknowledged and the newest write. */
export async function read(
  sender: Sender,
  accounts: readonly Watched[],
  random: Random,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const watched = random.pick(accounts)
    await readOnce(sender, watched, random)
    await sleep(random.integer(20, 60))
  }
}

async function readOnce(sender: Sender, { account, oracle, tags }: Watched, random: Random): Promise<void> {
  const wanted = anyRead(oracle, random)
  const path = pathOf(wanted)
  const tag = random.chance(0.7) ? tags.get(path) : undefined
  const { floor } = oracle
  const sent = {
    kind: wanted.kind,
    path,
    headers: tag === undefined ? [] : ['If-None-Match', tag.etag],
  } as const
  await sender.send(account, random.pick(sender.servers), sent, ({ status, headers, text }) => {
    const etag = String(headers['etag'])
    const known = tags.get(path)
    let body: string
    if (status === 200) {
      body = JSON.stringify(JSON.parse(text))
      if (known?.etag === etag && known.text !== body) return `the same ETag with another body: ${path}`
      storeTag(tags, path, { etag, text: body }, tagsMax)
    } else if (status === 304 && tag !== undefined) body = tag.text
    else if (status === 404 && wanted.kind === 'one') body = missing
    else return status === 304 ? '304 without a condition' : undefined
    if (oracle instanceof Growing) learn(oracle, body)
    const verdict = judge(oracle, wanted, body, floor)
    if (verdict === 'right') return undefined
    const expected = oracle.expected(floor, wanted).slice(0, 200)
    return `${status === 304 ? 'false 304' : verdict}: ${account.name} ${path}, sent at step ${floor} of ${oracle.ceiling}: ${body.slice(0, 200)}; expected ${expected}`
  })
}
