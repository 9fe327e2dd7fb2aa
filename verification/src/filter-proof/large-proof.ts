import type { Check } from '../check.ts'
import type { HttpResponse } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { evaluate } from './evaluate.ts'
import { randomFilter } from './filters.ts'
import { proofFixture } from './fixture.ts'
import { type PlainRecord, resources } from './schema.ts'
import { encodeForm, write } from './write.ts'

/** More than the sort threshold: above 20,000 matches the service scans the ids in order instead of sorting the matches. */
const rowCount = 25_000
const sortThreshold = 20_000

/** The same proof on random pages of a large account, for which the service chooses between access paths. */
export const largeProof: Check = {
  name: 'filter_proof_large',
  bound: '0 mismatches',
  async run(context) {
    const fixture = await proofFixture(context)
    const resource = resources.product
    const { account, rows } = await fixture.largeAccount(context.seed, resource, rowCount)
    const count = context.size(1_000, 40)
    const mismatches: string[] = []
    let scanned = 0
    const progress = context.progress('filters on a large account', count)
    await inParallel(count, 8, async (index) => {
      const random = new Random(context.seed, 10, index)
      const filter = randomFilter(random, resource, rows)
      const text = write(filter, random)
      const expected = evaluate(filter, resource, rows)
      const limit = random.pick([1, 10, 100, 1000])
      const page = random.integer(1, Math.ceil(expected.length / limit) + 1)
      const body = `fields=id&limit=${limit}&page=${page}&filter=${encodeForm(text, random)}`
      const server = random.integer(0, 1)
      const response = await fixture.send(account, resource.path, { method: 'QUERY', body, server })
      const wrong = judgePage(expected, page, limit, response)
      if (wrong !== undefined) mismatches.push(`#${index} page ${page} of ${limit}: ${wrong}\n  ${text}`)
      if (expected.length > sortThreshold) scanned += 1
      progress.step()
    })
    progress.end()
    const first = mismatches.slice(0, 10).map((text) => text.slice(0, 1000))
    return {
      value: `${mismatches.length} of ${grouped(count)}`,
      samples: Math.min(count, scanned),
      ok: mismatches.length === 0 && scanned > 0,
      note: [`${scanned} filters with more than ${grouped(sortThreshold)} matches`, ...first].join('\n'),
    }
  },
}

export function judgePage(
  expected: readonly PlainRecord[],
  page: number,
  limit: number,
  response: HttpResponse,
): string | undefined {
  if (response.status !== 200) return `${response.status} ${response.text.slice(0, 300)}`
  const body: { data: { id: number }[]; meta: { total: number } } = JSON.parse(response.text)
  if (body.meta.total !== expected.length) return `total ${body.meta.total}, but ${expected.length} match`
  const expectedIds = expected.slice((page - 1) * limit, page * limit).map((record) => Number(record['id']))
  const found = body.data.map(({ id }) => id)
  return found.join() === expectedIds.join()
    ? undefined
    : `${found.slice(0, 5).join()}… instead of ${expectedIds.slice(0, 5).join()}…`
}
