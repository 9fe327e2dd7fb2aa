import type { Answer } from '../client.ts'
import type { Context, Figure, Outcome } from '../figure.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { type Case, judge, type Rows, randomCase } from './cases.ts'
import { askedAtOnce, proofStand, type Stand, type StandAccount } from './stand.ts'
import { encodeForm } from './write.ts'

/** What PostgreSQL returns through the service is what the evaluator finds. */
export const filterProof: Figure = {
  name: 'filter_proof',
  bound: '0 mismatches',
  async run(context) {
    return proveOn(await proofStand(context), context, context.size(100_000, 6_000))
  },
}

export function proveOn(stand: Stand, context: Context, count: number): Promise<Outcome> {
  return prove(context, count, stand.accounts, (theCase) => askCase(stand, theCase))
}

/** Apart from the stand, so that a test can see wrong answers being told. */
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

function askCase(stand: Stand, { account, resource, text, random }: Case<StandAccount>): Promise<Answer> {
  const server = random.integer(0, stand.servers.length - 1)
  const query = `fields=id&limit=1000&filter=${encodeForm(text, random)}`
  const fits = Buffer.byteLength(text) <= urlFilterMax && query.length <= urlMax
  return fits && random.chance(0.9)
    ? stand.ask(account, `${resource.path}?${query}`, { server })
    : stand.ask(account, resource.path, { server, method: 'QUERY', body: query })
}
