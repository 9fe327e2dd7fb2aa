import { generateKey } from '../../../server/src/accounts/key-format.ts'
import type { Check } from '../../../verification/src/check.ts'
import { Client, type HttpResponse, headersFor } from '../../../verification/src/client.ts'
import { grouped } from '../../../verification/src/progress.ts'
import { Random } from '../../../verification/src/random.ts'
import { Service } from '../../../verification/src/service.ts'
import { Managed } from '../../../verification/src/trust/manage.ts'
import { median } from '../numbers.ts'

const path = '/api/v1/inventory/product'
const kinds = ['unknown', 'foreign', 'revoked', 'unused-host', 'unknown-host'] as const
type Kind = (typeof kinds)[number]
/** Names of the same length, so that all requests have the same size. */
const hosts = {
  unknown: 'alpha',
  foreign: 'alpha',
  revoked: 'alpha',
  'unused-host': 'gamma',
  'unknown-host': 'delta',
} satisfies Record<Kind, string>
/** One additional statement makes a 401 13 % slower; a busy machine slows down all kinds equally. */
const differenceMax = { full: 0.05, quick: 0.08 }
const requestsPerGuess = 50

/**
 * Five kinds of wrong keys get the same response in the same time: an unknown key, another account's key, a revoked key, and
 * an unknown key on the host of an unused account and on a host without an account. They are sent in random order over one
 * connection, so that other work of the machine slows down all kinds equally.
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
      const revoked = await alpha.createKey(port)
      await alpha.post(port, `/manage/v1/keys/${revoked.key_id}/revoke`, undefined)
      const each = context.size(10_000, 3_000)
      const times = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]))
      const responses = new Set<string>()
      for (let i = 0; i < 500; i++) await alpha.get(port, path, generateKey())
      const progress = context.progress('wrong keys', each * kinds.length)
      for (const kind of shuffledKinds(each, new Random(context.seed, 61))) {
        // Generates a key for every kind, even if it is not used, so that the client does the same work each time.
        const fresh = generateKey()
        const key = kind === 'foreign' ? foreign : kind === 'revoked' ? revoked.key : fresh
        const started = performance.now()
        const response = await client.send({
          port,
          path,
          headers: headersFor(hosts[kind], key),
        })
        times.get(kind)?.push(performance.now() - started)
        responses.add(withoutRequestId(response))
        progress.step()
      }
      progress.end()
      const difference = differenceOf(times)
      const rejected = [...responses].every((response) => response.startsWith('401 '))
      const medians = [...times].map(([kind, all]) => `${kind} ${median(all).toFixed(3)} ms`)
      return {
        value: `${(difference * 100).toFixed(1)} % apart, ${responses.size} kind of response`,
        samples: Math.min(...[...times.values()].map((all) => all.length)),
        ok:
          difference <= context.size(differenceMax.full, differenceMax.quick) &&
          responses.size === 1 &&
          rejected,
        note: [
          `${grouped(times.get('unknown')?.length ?? 0)} of each: ${medians.join(', ')}`,
          `by the median of ${requestsPerGuess} requests, an attacker distinguishes an unknown host from a known one in ` +
            `${(guessRate(times) * 100).toFixed(0)} % of all cases (50 % is guessing)`,
          ...(responses.size > 1 ? [...responses].slice(0, 3) : []),
        ].join('\n'),
      }
    } finally {
      client.close()
      await service.stop()
    }
  },
}

/** The difference between the slowest and the fastest median. */
function differenceOf(times: ReadonlyMap<Kind, number[]>): number {
  const medians = [...times.values()].map(median)
  return Math.max(...medians) / Math.min(...medians) - 1
}

/** How often an attacker guesses right who compares the medians of `requestsPerGuess` requests to each host. */
function guessRate(times: ReadonlyMap<Kind, number[]>): number {
  const medians = (kind: Kind) => {
    const all = times.get(kind) ?? []
    const groups = Math.floor(all.length / requestsPerGuess)
    return Array.from({ length: groups }, (_, n) =>
      median(all.slice(n * requestsPerGuess, (n + 1) * requestsPerGuess)),
    )
  }
  const known = medians('unknown')
  const slower = medians('unknown-host').filter((time, n) => time > (known[n] ?? 0)).length / known.length
  return Math.max(slower, 1 - slower)
}

/** Status, headers and body, without the request id and the date. */
function withoutRequestId({ status, headers, text }: HttpResponse): string {
  const { date: _date, 'x-request-id': _id, ...rest } = headers
  return `${status} ${text.replace(/"request_id":"[^"]*"/, '')} ${JSON.stringify(rest)}`
}

function shuffledKinds(each: number, random: Random): Kind[] {
  const shuffled = kinds.flatMap((kind) =>
    Array.from({ length: each }, () => ({ kind, order: random.next() })),
  )
  return shuffled.toSorted((a, b) => a.order - b.order).map(({ kind }) => kind)
}
