import { type Filter, parse } from '@quartermaster/filter'
import type { Answer } from '../client.ts'
import { Random } from '../random.ts'
import { evaluate } from './evaluate.ts'
import { randomFilter, spoiltFilter } from './filters.ts'
import { type PlainRecord, type Resource, type ResourceName, resourceNames, resources } from './schema.ts'
import { write } from './write.ts'

export interface Rows {
  readonly rows: Record<ResourceName, readonly PlainRecord[]>
}

/** A filter, as a tree and as text, and the records it is asked of. */
export interface Case<A extends Rows> {
  readonly account: A
  readonly resource: Resource
  readonly filter: Filter
  readonly text: string
  /** One condition is wrong: 400 is the right answer. */
  readonly spoilt: boolean
  readonly random: Random
}

export function randomCase<A extends Rows>(accounts: readonly A[], ...seeds: readonly number[]): Case<A> {
  const random = new Random(...seeds)
  const account = random.pick(accounts)
  const resource = resources[random.chance(0.25) ? 'product' : random.pick(resourceNames)]
  const rows = account.rows[resource.name]
  const isSpoilt = random.chance(0.03)
  const filter = (isSpoilt ? spoiltFilter : randomFilter)(random, resource, rows)
  return { account, resource, filter, text: write(filter, random), spoilt: isSpoilt, random }
}

/** What is wrong with the answer to a case; undefined when nothing is. */
export function judge(
  { account, resource, filter, text, spoilt }: Case<Rows>,
  answer: Answer,
): string | undefined {
  if (spoilt) return answer.status === 400 ? undefined : `${answer.status} where 400 is due`
  const misread = misreading(filter, text)
  if (misread !== undefined) return misread
  if (answer.status !== 200) return `${answer.status}: ${answer.text.slice(0, 400)}`
  const expected = evaluate(filter, resource, account.rows[resource.name]).map((record) =>
    Number(record['id']),
  )
  const { data, meta }: Page = JSON.parse(answer.text)
  const found = data.map(({ id }) => id)
  if (found.join() !== expected.join()) return difference(expected, found)
  if (meta.total === expected.length && meta.count === expected.length) return undefined
  return `meta ${JSON.stringify(meta)}, but ${expected.length} records match`
}

interface Page {
  readonly data: readonly { readonly id: number }[]
  readonly meta: { readonly count: number; readonly total: number }
}

function difference(expected: readonly number[], found: readonly number[]): string {
  const missing = expected.filter((id) => !found.includes(id))
  const extra = found.filter((id) => !expected.includes(id))
  return missing.length + extra.length === 0
    ? `not in the order of ids: ${found.join()}`
    : `missing ${missing.slice(0, 10).join() || 'none'}, too many ${extra.slice(0, 10).join() || 'none'}`
}

/** The parser has to find the tree that was written. */
function misreading(filter: Filter, text: string): string | undefined {
  try {
    const read = withoutSpans(parse(text))
    return read === withoutSpans(filter) ? undefined : `read as ${read}`
  } catch (error) {
    return `not read: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** The tree as text, apart from where its nodes fixture. */
export function withoutSpans(filter: Filter): string {
  return JSON.stringify(filter, (key, value: unknown) =>
    key === 'offset' || key === 'length' || key === 'operatorSpan' ? undefined : value,
  )
}
