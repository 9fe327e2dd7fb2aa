import { generateKey } from '../../../server/src/accounts/key-format.ts'
import type { Check } from '../../../verification/src/check.ts'
import { type Answer, Client } from '../../../verification/src/client.ts'
import { grouped } from '../../../verification/src/progress.ts'
import { Random } from '../../../verification/src/random.ts'
import { Service } from '../../../verification/src/service.ts'
import { Managed } from '../../../verification/src/trust/manage.ts'

const path = '/api/v1/inventory/product'
const kinds = ['unknown', 'foreign', 'revoked', 'unused-host', 'unknown-host'] as const
type Kind = (typeof kinds)[number]
/** Of one length, so that only what the service makes of them differs. */
const hosts = {
  unknown: 'alpha',
  foreign: 'alpha',
  revoked: 'alpha',
  'unused-host': 'gamma',
  'unknown-host': 'delta',
} satisfies Record<Kind, string>
/** One statement more makes a refusal 13 % slower; a busy machine slows down all kinds alike. */
const boundApart = { full: 0.05, quick: 0.08 }
const guessRequests = 50

/**
 * An unknown key, a key on another account's host, a revoked key; an unknown key on the host of an account that nobody
 * uses, and on a host that is no account's: the same answer after the same time. Mixed at random over one connection,
 * one after the other, so that whatever else the machine does slows down all kinds alike.
 */
export const wrongKeys: Check = {
  name: 'wrong_keys',
  bound: '401 each, medians within 5 % (quick: 8 %)',
  async run(context) {
    const service = await Service.start()
    const client = new Client(1)
    try {
      const alpha = new Managed(client, hosts.unknown, await service.account(hosts.unknown))
      const foreign = await service.account('beta')
      await service.account('gamma')
      const { port } = await service.serve()
      const revoked = await alpha.makeKey(port)
      await alpha.post(port, `/manage/v1/keys/${revoked.key_id}/revoke`, undefined)
      const each = context.size(10_000, 3_000)
      const times = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]))
      const answers = new Set<string>()
      for (let i = 0; i < 500; i++) await alpha.ask(port, path, generateKey())
      const progress = context.progress('wrong keys', each * kinds.length)
      for (const kind of shuffledKinds(each, new Random(context.seed, 61))) {
        // Each time a key is made, used or not: making one leaves the client in another state than not.
        const fresh = generateKey()
        const key = kind === 'foreign' ? foreign : kind === 'revoked' ? revoked.key : fresh
        const host = `${hosts[kind]}.localhost`
        const started = performance.now()
        const answer = await client.ask({
          port,
          path,
          headers: ['Host', host, 'Authorization', `Bearer ${key}`],
        })
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
        ok: apart <= context.size(boundApart.full, boundApart.quick) && answers.size === 1 && refused,
        note: [
          `${grouped(times.get('unknown')?.length ?? 0)} of each: ${medians.join(', ')}`,
          `by the median of ${guessRequests} requests, an unknown host is told from a known one in ` +
            `${(toldApart(times) * 100).toFixed(0)} % of all cases (50 %: not at all)`,
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

/** How often the larger of two medians belongs to the same host, where an attacker compares so many requests of each. */
function toldApart(times: ReadonlyMap<Kind, number[]>): number {
  const medians = (kind: Kind) => {
    const all = times.get(kind) ?? []
    const groups = Math.floor(all.length / guessRequests)
    return Array.from({ length: groups }, (_, n) =>
      median(all.slice(n * guessRequests, (n + 1) * guessRequests)),
    )
  }
  const known = medians('unknown')
  const slower = medians('unknown-host').filter((time, n) => time > (known[n] ?? 0)).length / known.length
  return Math.max(slower, 1 - slower)
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
