import type { Check } from '../check.ts'
import type { HttpResponse } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { type Attempt, randomAttempt } from './attempts.ts'
import { startLeakFixture } from './fixture.ts'

/** No response contains another account's data, whatever host, key, id or header is sent. */
export const noLeak: Check = {
  name: 'no_leak',
  bound: '0 violations',
  async run(context) {
    const fixture = await startLeakFixture(context)
    context.atEnd(() => fixture.stop())
    const count = context.size(100_000, 1_000)
    const violations: string[] = []
    const rejections = new Map<string, number>()
    const seen = { target: 0, either: 0, rejected: 0 }
    const progress = context.progress('attempts', count)
    await inParallel(count, 32, async (index) => {
      const attempt = randomAttempt(new Random(context.seed, 6, index), fixture.accounts)
      const response = await fixture.client.sendUntilAccepted({
        port: fixture.server.port,
        ...attempt.request,
      })
      const wrong = violation(attempt, response)
      if (wrong !== undefined) violations.push(`#${index} ${describe(attempt)}\n  ${wrong}`)
      if (response.status === 401) {
        const rejection = withoutRequestId(response)
        rejections.set(rejection, (rejections.get(rejection) ?? 0) + 1)
      }
      seen[attempt.expected] += 1
      progress.step()
    })
    progress.end()
    const note = [
      `${grouped(seen.target)} for their own data, ${grouped(seen.either)} with an ambiguous host, ` +
        `${grouped(seen.rejected)} to be rejected; ${rejections.size} kind(s) of 401`,
      ...(rejections.size > 1 ? [...rejections.keys()].slice(0, 4) : []),
      ...violations.slice(0, 10),
    ]
    return {
      value: `${violations.length} of ${grouped(count)}, ${rejections.size} kind of 401`,
      samples: Math.min(seen.target, seen.rejected),
      ok: violations.length === 0 && rejections.size === 1,
      note: note.join('\n'),
    }
  },
}

/** A marker has only letters, so that it is the same in every encoding. */
const anyMarker = /zq[a-z]{2}qz/g

export function violation(
  { entitled, expected, target }: Attempt,
  response: HttpResponse,
): string | undefined {
  const headersAndBody = `${JSON.stringify(response.headers)}\n${response.text}`
  const found = new Set(headersAndBody.match(anyMarker) ?? [])
  const foreign = [...found].filter((marker) => marker !== entitled?.marker)
  if (foreign.length > 0) return `contains ${foreign.join()}: ${response.text.slice(0, 300)}`
  const { status } = response
  if (status >= 500) return `${status} ${response.text.slice(0, 300)}`
  // An invalid Host header may be rejected with 400 before the key is verified.
  if (expected === 'rejected')
    return status === 401 || status === 400 ? undefined : `${status} instead of 401`
  if (expected === 'either') return undefined
  if (status !== target.status) return `${status} instead of ${target.status}: ${response.text.slice(0, 300)}`
  if (target.hasMarker === undefined) return undefined
  const hasMarker = response.text.includes(entitled?.marker ?? '')
  return hasMarker === target.hasMarker
    ? undefined
    : `its own data is ${hasMarker ? '' : 'not '}in the response`
}

/** Body and headers of a 401, without the request id and the date. */
function withoutRequestId({ text, headers }: HttpResponse): string {
  const { date: _date, 'x-request-id': _id, ...rest } = headers
  return `${text.replace(/"request_id":"[^"]*"/, '"request_id":""')} ${JSON.stringify(rest)}`
}

function describe({ request, expected }: Attempt): string {
  return `${request.method} ${request.path} ${JSON.stringify(request.headers)} ${request.body ?? ''} (expected: ${expected})`
}
