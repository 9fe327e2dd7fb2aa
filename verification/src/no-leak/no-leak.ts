import type { Check } from '../check.ts'
import type { Answer } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { type Attempt, randomAttempt } from './attempts.ts'
import { startLeakFixture } from './fixture.ts'

/** No answer shows another account's data, whatever host, key, id or header was sent. */
export const noLeak: Check = {
  name: 'no_leak',
  bound: '0 violations',
  async run(context) {
    const fixture = await startLeakFixture(context)
    context.atEnd(() => fixture.stop())
    const count = context.size(100_000, 6_000)
    const violations: string[] = []
    const refusals = new Map<string, number>()
    const seen = { all: 0, some: 0, none: 0 }
    const progress = context.progress('attempts', count)
    await inParallel(count, 32, async (index) => {
      const attempt = randomAttempt(new Random(context.seed, 6, index), fixture.accounts)
      const answer = await fixture.client.ask({ port: fixture.server.port, ...attempt.ask })
      const wrong = violation(attempt, answer)
      if (wrong !== undefined) violations.push(`#${index} ${told(attempt)}\n  ${wrong}`)
      if (answer.status === 401) refusals.set(refusal(answer), (refusals.get(refusal(answer)) ?? 0) + 1)
      seen[attempt.due] += 1
      progress.step()
    })
    progress.end()
    const note = [
      `${grouped(seen.all)} with their own data due, ${grouped(seen.some)} with an odd host, ` +
        `${grouped(seen.none)} to be refused; ${refusals.size} kind(s) of 401`,
      ...(refusals.size > 1 ? [...refusals.keys()].slice(0, 4) : []),
      ...violations.slice(0, 10),
    ]
    return {
      value: `${violations.length} of ${grouped(count)}, ${refusals.size} kind of 401`,
      ok: violations.length === 0 && refusals.size === 1,
      note: note.join('\n'),
    }
  },
}

/** Markers are letters only, so that no encoding hides one. */
const anyMarker = /zq[a-z]{2}qz/g

export function violation({ entitled, due, target }: Attempt, answer: Answer): string | undefined {
  const everything = `${JSON.stringify(answer.headers)}\n${answer.text}`
  const found = new Set(everything.match(anyMarker) ?? [])
  const foreign = [...found].filter((marker) => marker !== entitled?.marker)
  if (foreign.length > 0) return `shows ${foreign.join()}: ${answer.text.slice(0, 300)}`
  const { status } = answer
  if (status >= 500) return `${status} ${answer.text.slice(0, 300)}`
  // A Host that is no host at all may be turned down as a bad request before anyone asks who sent it.
  if (due === 'none') return status === 401 || status === 400 ? undefined : `${status} where 401 is due`
  if (due === 'some') return undefined
  if (status !== target.status) return `${status} where ${target.status} is due: ${answer.text.slice(0, 300)}`
  if (target.marked === undefined) return undefined
  const marked = answer.text.includes(entitled?.marker ?? '')
  return marked === target.marked ? undefined : `its own data is ${marked ? '' : 'not '}there`
}

/** Body and headers of a 401, but for what names this one request or moment. */
function refusal({ text, headers }: Answer): string {
  const { date: _date, 'x-request-id': _id, ...rest } = headers
  return `${text.replace(/"request_id":"[^"]*"/, '"request_id":""')} ${JSON.stringify(rest)}`
}

function told({ ask, due }: Attempt): string {
  return `${ask.method} ${ask.path} ${JSON.stringify(ask.headers)} ${ask.body ?? ''} (due: ${due})`
}
