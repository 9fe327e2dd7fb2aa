import { evaluate } from '../filter-proof/evaluate.ts'
import { randomFilter } from '../filter-proof/filters.ts'
import { withNumbersAsText } from '../filter-proof/fixture.ts'
import type { PlainRecord, Resource } from '../filter-proof/schema.ts'
import { write } from '../filter-proof/write.ts'
import type { Random } from '../random.ts'
import { queryOf, randomSummary, summarize } from './summarize.ts'

export interface SummaryResponse {
  readonly status: number
  readonly text: string
}

/** Below the limits of the service for a filter in a URL. */
const urlFilterMax = 1_500

export interface Comparison {
  readonly compared: number
  /** Groups that the evaluator expects. */
  readonly groups: number
  readonly faults: readonly string[]
}

/** Compares random summaries of the records with those of the evaluator. */
export async function compareSummaries(
  { resource, rows }: { readonly resource: Resource; readonly rows: readonly PlainRecord[] },
  random: Random,
  count: number,
  read: (query: string) => Promise<SummaryResponse>,
): Promise<Comparison> {
  const faults: string[] = []
  let [compared, groups] = [0, 0]
  for (let i = 0; i < count; i++) {
    const filter = random.chance(0.2) ? undefined : randomFilter(random, resource, rows)
    const text = filter && write(filter, random)
    if (text !== undefined && text.length > urlFilterMax) continue
    const request = randomSummary(random, resource)
    const expected = summarize(request, filter === undefined ? rows : evaluate(filter, resource, rows))
    const query = queryOf(random, request, text)
    const fault = differenceFrom(expected, await read(query))
    if (fault !== undefined) faults.push(`${query}: ${fault}`)
    groups += typeof expected === 'number' ? expected : countOf(expected)
    compared += 1
  }
  return { compared, groups, faults }
}

/** What is wrong with the response. */
export function differenceFrom(
  expected: string | number,
  { status, text }: SummaryResponse,
): string | undefined {
  if (typeof expected === 'number') {
    const isRight = status === 400 && text.includes(`have ${expected} groups`)
    return isRight ? undefined : `${status} ${text.slice(0, 300)} instead of ${expected} groups`
  }
  if (status !== 200) return `${status} ${text.slice(0, 300)}`
  const found = JSON.stringify(JSON.parse(withNumbersAsText(text)))
  return found === expected ? undefined : `${found.slice(0, 1000)} instead of ${expected.slice(0, 1000)}`
}

function countOf(expected: string): number {
  const { data }: { data: readonly unknown[] } = JSON.parse(expected)
  return data.length
}
