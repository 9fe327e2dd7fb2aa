import type { Check, Context, Outcome } from '../check.ts'
import type { HttpResponse } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { type Case, judge, type Rows, randomCase } from './cases.ts'
import { concurrentRequests, type Fixture, type ProofAccount, proofFixture } from './fixture.ts'
import { encodeForm } from './write.ts'

/** The service returns the same records as the evaluator. */
export const filterProof: Check = {
  name: 'filter_proof',
  bound: '0 mismatches',
  async run(context) {
    return proveOn(await proofFixture(context), context, context.size(100_000, 1_000))
  },
}

export function proveOn(fixture: Fixture, context: Context, count: number): Promise<Outcome> {
  return prove(context, count, fixture.accounts, (theCase) => sendCase(fixture, theCase))
}

/** Independent of the fixture, so that a test can pass wrong responses. */
export async function prove<A extends Rows>(
  context: Pick<Context, 'seed' | 'progress'>,
  count: number,
  accounts: readonly A[],
  send: (theCase: Case<A>) => Promise<HttpResponse>,
  concurrency = concurrentRequests,
): Promise<Outcome> {
  const mismatches: string[] = []
  let matched = 0
  const progress = context.progress('filters', count)
  await inParallel(count, concurrency, async (index) => {
    const theCase = randomCase(accounts, context.seed, 2, index)
    const response = await send(theCase).catch(brokenResponse)
    const wrong = judge(theCase, response)
    if (wrong !== undefined) mismatches.push(`#${index} ${wrong}\n  ${theCase.resource.name} ${theCase.text}`)
    if (response.status === 200 && !response.text.startsWith('{"data":[]')) matched += 1
    progress.step()
  })
  progress.end()
  const value = `${grouped(mismatches.length)} of ${grouped(count)}`
  // At least a third of the filters must match a record, or the proof would be too weak.
  const isMeaningful = matched > count / 3
  const first = mismatches.slice(0, 10).map((text) => text.slice(0, 1000))
  const note = [`seed ${context.seed}, ${grouped(matched)} filters found records`, ...first].join('\n')
  return { value, samples: Math.min(count, matched), ok: mismatches.length === 0 && isMeaningful, note }
}

/** A broken connection is reported like a wrong response, and the run continues. */
function brokenResponse(error: unknown): HttpResponse {
  return { status: 0, headers: {}, text: String(error) }
}

// Below the limits of the service: 8 KB for a filter in a URL, 16 KB for a URL.
const urlFilterMax = 8_000
const urlMax = 15_000

function sendCase(
  fixture: Fixture,
  { account, resource, text, random }: Case<ProofAccount>,
): Promise<HttpResponse> {
  const server = random.integer(0, fixture.servers.length - 1)
  const query = `fields=id&limit=1000&filter=${encodeForm(text, random)}`
  const fits = Buffer.byteLength(text) <= urlFilterMax && query.length <= urlMax
  return fits && random.chance(0.9)
    ? fixture.send(account, `${resource.path}?${query}`, { server })
    : fixture.send(account, resource.path, { server, method: 'QUERY', body: query })
}
