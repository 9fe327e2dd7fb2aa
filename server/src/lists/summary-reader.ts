import type { AccountReads } from '../accounts/account-reads.ts'
import type { Verified } from '../accounts/verifications.ts'
import { internalError, invalid } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { failingOver } from '../postgres/sqlstate.ts'
import { groupCountStatement, type SummaryRow, summaryStatement } from '../query/sql/summary-statement.ts'
import type { SummaryPlan } from '../query/summary-plan.ts'
import type { AccountScope } from '../scope.ts'
import { isOlder, type Tally } from '../tally-state.ts'
import type { SummaryQuery } from './plan-cache.ts'
import { etagOf, type ReadResponse, responseOf } from './response.ts'
import { SummaryCache } from './summary-cache.ts'

/**
 * Reads a summary: the groups of the records that match a filter, with their numbers, sums, minima, maxima and averages. If it was
 * read at an earlier version, its groups are carried to the present one.
 */
export class SummaryReader {
  readonly #accountReads: AccountReads
  readonly #cache = new SummaryCache()

  constructor(accountReads: AccountReads) {
    this.#accountReads = accountReads
  }

  async read(
    { access, tally }: Verified & { readonly tally: Tally },
    { plan, requestHash }: SummaryQuery,
    signal: AbortSignal,
  ): Promise<ReadResponse> {
    const isSmallAccount = tally.total <= limits.smallAccountRecordsMax
    const isLargeAccount = tally.total > limits.filterSortRecordsMax
    const cached = isSmallAccount ? undefined : this.#cache.get(access, requestHash)
    const statement = summaryStatement(access, plan, { isSmallAccount, isLargeAccount, cached })
    const at = { resource: plan.resource.name, tally }
    const kind = isLargeAccount && cached === undefined ? 'count' : 'page'
    const [row] = await this.#accountReads.readAt<SummaryRow>(access, statement, at, signal, kind)
    if (row === undefined) throw internalError()
    if (isOlder(row, tally)) throw failingOver()
    const count = Number(row.count)
    if (count > limits.summaryGroupsMax) throw tooManyGroups(await this.#countGroups(access, plan, signal))
    const { version, lineage = null, groups = null, total } = row
    if (lineage !== null && groups !== null && Number(total) > limits.summaryCarriedRecordsMin)
      this.#cache.set(access, requestHash, { version, lineage, groups })
    return responseOf(row, etagOf(row, requestHash), bodyOf(row), undefined, count)
  }

  /** Only for the message, so it may take less time than a request. Undefined if that is not enough. */
  async #countGroups(
    access: AccountScope,
    plan: SummaryPlan,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(limits.summaryCountMsMax)])
    try {
      const statement = groupCountStatement(access, plan)
      const [row] = await this.#accountReads.read<{ count: string }>(access, statement, inTime, 'count')
      return row && Number(row.count)
    } catch {
      return undefined
    }
  }
}

function tooManyGroups(count: number | undefined) {
  const max = limits.summaryGroupsMax
  // Records may have been written since the groups were found.
  const found = count !== undefined && count > max ? String(count) : `more than ${max}`
  return invalid({
    parameter: 'group',
    code: 'groups_too_many',
    message: `The records have ${found} groups; the maximum is ${max}. Narrow the filter, or group by a field with fewer values.`,
    expected: [`at most ${max} groups`],
  })
}

function bodyOf({ records, count, total }: SummaryRow): string | Buffer {
  const opening = '{"data":['
  const closing = `],"meta":{"count":${count},"total":${total}}}`
  if (typeof records === 'string') return `${opening}${records}${closing}`
  return Buffer.concat([Buffer.from(opening), records, Buffer.from(closing)])
}
