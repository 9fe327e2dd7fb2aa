import { generateKey } from '../../../server/src/accounts/key.ts'
import { type Answer, Client } from '../client.ts'
import type { Figure } from '../figure.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'
import { Managed } from './manage.ts'

const path = '/api/v1/inventory/product'
const kinds = ['unknown', 'foreign', 'revoked'] as const
type Kind = (typeof kinds)[number]
const boundApart = 0.05

/**
 * An unknown key, a key on another account's host, a revoked key: the same answer after the same time. Mixed at random
 * over one connection, one after the other, so that whatever else the machine does befalls all three alike.
 */
export const wrongKeys: Figure = {
  name: 'wrong_keys',
  bound: '401 each, medians within 5 %',
  async run(context) {
    const service = await Service.start()
    const client = new Client(1)
    try {
      const acme = new Managed(client, 'acme', await service.account('acme'))
      const foreign = await service.account('beta')
      const { port } = await service.serve()
      const revoked = await acme.makeKey(port)
      await acme.post(port, `/manage/v1/keys/${revoked.key_id}/revoke`, undefined)
      const each = context.size(10_000, 3_000)
      const times = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]))
      const answers = new Set<string>()
      for (let i = 0; i < 500; i++) await acme.ask(port, path, generateKey())
      const progress = context.progress('wrong keys', each * kinds.length)
      for (const kind of shuffledKinds(each, new Random(context.seed, 61))) {
        // Each time a key is made, used or not: making one leaves the client in another state than not.
        const key = { unknown: generateKey(), foreign, revoked: revoked.key }[kind]
        const started = performance.now()
        const answer = await acme.ask(port, path, key)
        times.get(kind)?.push(performance.now() - started)
        answers.add(without(answer))
        progress.step()
      }
      progress.end()
      const apart = apartOf(times)
      const refused = [...answers].every((answer) => answer.startsWith('401 '))
      const medians = [...times].map(([kind, all]) => `${kind} ${median(all).toFixed(3)} ms`)
      return {
        value: `${(apart * 100).toFixed(1)} % apart, ${answers.size} kind of answer`,
        ok: apart <= boundApart && answers.size === 1 && refused,
        note: [
          `${grouped(times.get('unknown')?.length ?? 0)} of each: ${medians.join(', ')}`,
          ...(answers.size > 1 ? [...answers].slice(0, 3) : []),
        ].join('\n'),
      }
    } finally {
      client.close()
      await service.stop()
    }
  },
}

/** How much the slowest median lies above the fastest. */
function apartOf(times: ReadonlyMap<Kind, number[]>): number {
  const medians = [...times.values()].map(median)
  return Math.max(...medians) / Math.min(...medians) - 1
}

/** Status, headers and body, but for what names this one request or moment. */
function without({ status, headers, text }: Answer): string {
  const { date: _date, 'x-request-id': _id, ...rest } = headers
  return `${status} ${text.replace(/"request_id":"[^"]*"/, '')} ${JSON.stringify(rest)}`
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function shuffledKinds(each: number, random: Random): Kind[] {
  const order = kinds.flatMap((kind) => Array.from({ length: each }, () => ({ kind, place: random.next() })))
  return order.toSorted((a, b) => a.place - b.place).map(({ kind }) => kind)
}
