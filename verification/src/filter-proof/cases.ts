import { type Filter, parse } from '@quartermaster/filter'
import type { HttpResponse } from '../client.ts'
import { Random } from '../random.ts'
import { evaluate } from './evaluate.ts'
import { invalidFilter, randomFilter } from './filters.ts'
import { type PlainRecord, type Resource, type ResourceName, resourceNames, resources } from './schema.ts'
import { write } from './write.ts'

export interface Rows {
  readonly rows: Record<ResourceName, readonly PlainRecord[]>
}

/** A filter, as a tree and as text, with the account and resource that it is applied to. */
export interface Case<A extends Rows> {
  readonly account: A
  readonly resource: Resource
  readonly filter: Filter
  readonly text: string
  /** One condition is invalid: the service must respond with 400. */
  readonly invalid: boolean
  readonly random: Random
}

export function randomCase<A extends Rows>(accounts: readonly A[], ...seeds: readonly number[]): Case<A> {
  const random = new Random(...seeds)
  const account = random.pick(accounts)
  const resource = resources[random.chance(0.25) ? 'product' : random.pick(resourceNames)]
  const rows = account.rows[resource.name]
  const isInvalid = random.chance(0.03)
  const filter = (isInvalid ? invalidFilter : randomFilter)(random, resource, rows)
  return { account, resource, filter, text: write(filter, random), invalid: isInvalid, random }
}

/** Describes what is wrong with the response to a case; undefined if it is correct. */
export function judge(
  { account, resource, filter, text, invalid }: Case<Rows>,
  response: HttpResponse,
): string | undefined {
  if (invalid) return response.status === 400 ? undefined : `${response.status} instead of 400`
  const fault = parseFault(filter, text)
  if (fault !== undefined) return fault
  if (response.status !== 200) return `${response.status}: ${response.text.slice(0, 400)}`
  const expected = evaluate(filter, resource, account.rows[resource.name]).map((record) =>
    Number(record['id']),
  )
  const { data, meta }: Page = JSON.parse(response.text)
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
    : `missing ${missing.slice(0, 10).join() || 'none'}, unexpected ${extra.slice(0, 10).join() || 'none'}`
}

/** The parser must return the tree that was written. */
function parseFault(filter: Filter, text: string): string | undefined {
  try {
    const parsed = withoutSpans(parse(text))
    return parsed === withoutSpans(filter) ? undefined : `parsed as ${parsed}`
  } catch (error) {
    return `not parsed: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** The tree as JSON, without the positions of its nodes. */
export function withoutSpans(filter: Filter): string {
  return JSON.stringify(filter, (key, value: unknown) =>
    key === 'offset' || key === 'length' || key === 'operatorSpan' ? undefined : value,
  )
}
