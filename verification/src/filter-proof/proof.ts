import type { Check, Context, Outcome } from '../check.ts'
import type { Answer } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { type Case, judge, type Rows, randomCase } from './cases.ts'
import { askedAtOnce, type Fixture, proofFixture, type StandAccount } from './fixture.ts'
import { encodeForm } from './write.ts'

/** What PostgreSQL returns through the service is what the evaluator finds. */
export const filterProof: Check = {
  name: 'filter_proof',
  bound: '0 mismatches',
  async run(context) {
    return proveOn(await proofFixture(context), context, context.size(100_000, 6_000))
  },
}

export function proveOn(fixture: Fixture, context: Context, count: number): Promise<Outcome> {
  return prove(context, count, fixture.accounts, (theCase) => askCase(fixture, theCase))
}

/** Apart from the fixture, so that a test can see wrong answers being told. */
export async function prove<A extends Rows>(
  context: Pick<Context, 'seed' | 'progress'>,
  count: number,
  accounts: readonly A[],
  ask: (theCase: Case<A>) => Promise<Answer>,
  atOnce = askedAtOnce,
): Promise<Outcome> {
  const mismatches: string[] = []
  let matched = 0
  const progress = context.progress('filters', count)
  await inParallel(count, atOnce, async (index) => {
    const theCase = randomCase(accounts, context.seed, 2, index)
    const answer = await ask(theCase).catch(brokenAnswer)
    const wrong = judge(theCase, answer)
    if (wrong !== undefined) mismatches.push(`#${index} ${wrong}\n  ${theCase.resource.name} ${theCase.text}`)
    if (answer.status === 200 && !answer.text.startsWith('{"data":[]')) matched += 1
    progress.step()
  })
  progress.end()
  const value = `${grouped(mismatches.length)} of ${grouped(count)}`
  // A proof over filters that find nothing would show little.
  const telling = matched > count / 3
  const first = mismatches.slice(0, 10).map((text) => text.slice(0, 1000))
  const note = [`seed ${context.seed}, ${grouped(matched)} filters found records`, ...first].join('\n')
  return { value, ok: mismatches.length === 0 && telling, note }
}

/** A connection that breaks is a wrong answer like any other: the run goes on, and tells it. */
function brokenAnswer(error: unknown): Answer {
  return { status: 0, headers: {}, text: String(error) }
}

// Below the service's bounds of 8 KB of filter and 16 KB of URL.
const urlFilterMax = 8_000
const urlMax = 15_000

function askCase(fixture: Fixture, { account, resource, text, random }: Case<StandAccount>): Promise<Answer> {
  const server = random.integer(0, fixture.servers.length - 1)
  const query = `fields=id&limit=1000&filter=${encodeForm(text, random)}`
  const fits = Buffer.byteLength(text) <= urlFilterMax && query.length <= urlMax
  return fits && random.chance(0.9)
    ? fixture.ask(account, `${resource.path}?${query}`, { server })
    : fixture.ask(account, resource.path, { server, method: 'QUERY', body: query })
}
