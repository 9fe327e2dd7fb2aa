import { LRUCache } from 'lru-cache'
import type { AccountReads } from '../accounts/account-reads.ts'
import type { Verified } from '../accounts/verifications.ts'
import { Failure, internalError, invalid } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { failingOver } from '../postgres/sqlstate.ts'
import type { CachedGroups } from '../query/sql/summary-carry.ts'
import { groupCountStatement, type SummaryRow, summaryStatement } from '../query/sql/summary-statement.ts'
import type { SummaryPlan } from '../query/summary-plan.ts'
import type { AccountScope } from '../scope.ts'
import type { StateStatement } from '../sql.ts'
import { isOlder, isSameState, type Tally, type TallyState } from '../tally-state.ts'
import { type BackgroundCounts, isLate } from './background-counts.ts'
import type { SummaryQuery } from './plan-cache.ts'
import { etagOf, type ReadResponse, responseOf } from './response.ts'
import { SummaryCache, summaryKey } from './summary-cache.ts'

/** What was counted in the background and cannot be carried. */
interface CountedSummary {
  readonly state: TallyState
  readonly outcome: ReadResponse | Failure
}

/**
 * Reads a summary: the groups of the records that match a filter, with their numbers, sums, minima, maxima and averages. If it was
 * read at an earlier version, its groups are carried to the present one. If that takes too long, it is counted in the background.
 */
export class SummaryReader {
  readonly #accountReads: AccountReads
  readonly #counts: BackgroundCounts
  readonly #cache = new SummaryCache()
  readonly #counted = new LRUCache<string, CountedSummary>({
    max: limits.countedSummariesMax,
    ttl: limits.backgroundCountRetryMs,
  })

  constructor(accountReads: AccountReads, counts: BackgroundCounts) {
    this.#accountReads = accountReads
    this.#counts = counts
  }

  async read(
    { access, tally }: Verified & { readonly tally: Tally },
    { plan, requestHash }: SummaryQuery,
    signal: AbortSignal,
  ): Promise<ReadResponse> {
    const key = summaryKey(access, requestHash)
    if (this.#counts.isRunning(key)) await this.#counts.wait(key, 'summary', signal)
    const counted = this.#counted.get(key)
    if (counted !== undefined && isSameState(counted.state, tally)) return responseFrom(counted.outcome)
    const isSmallAccount = tally.total <= limits.smallAccountRecordsMax
    const isLargeAccount = tally.total > limits.filterSortRecordsMax
    const cached = isSmallAccount ? undefined : this.#cache.get(access, requestHash)
    const row = await this.#rowOf(
      access,
      summaryStatement(access, plan, { isSmallAccount, isLargeAccount, cached }),
      { resource: plan.resource.name, tally, isCounted: isLargeAccount && cached === undefined },
      signal,
    ).catch((error: unknown) => {
      if (!isLargeAccount || !isLate(error)) throw error
      if (counted !== undefined) throw changedMeanwhile()
      throw this.#counts.begin(access, key, 'summary', () => this.#count(access, plan, requestHash))
    })
    if (isOlder(row, tally)) throw failingOver()
    if (hasTooManyGroups(row)) throw tooManyGroups(await this.#countGroups(access, plan, signal))
    const toCarry = groupsToCarry(row)
    if (toCarry !== undefined) this.#cache.set(access, requestHash, toCarry)
    return summaryResponse(row, requestHash)
  }

  async #rowOf(
    access: AccountScope,
    statement: StateStatement,
    { resource, tally, isCounted }: { resource: string; tally: Tally; isCounted: boolean },
    signal: AbortSignal,
  ): Promise<SummaryRow> {
    const kind = isCounted ? 'count' : 'page'
    const at = { resource, tally }
    return onlyRow(await this.#accountReads.readAt<SummaryRow>(access, statement, at, signal, kind))
  }

  /** In the background. */
  async #count(access: AccountScope, plan: SummaryPlan, requestHash: string): Promise<void> {
    const statement = summaryStatement(access, plan, { isLargeAccount: true })
    const row = onlyRow(await this.#accountReads.countLong<SummaryRow>(access, statement))
    const isTooMany = hasTooManyGroups(row)
    const toCarry = isTooMany ? undefined : groupsToCarry(row)
    if (toCarry !== undefined) return this.#cache.set(access, requestHash, toCarry)
    const outcome = isTooMany ? tooManyGroups(undefined) : summaryResponse(row, requestHash)
    this.#counted.set(summaryKey(access, requestHash), { state: row, outcome })
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

function onlyRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw internalError()
  return row
}

function responseFrom(outcome: ReadResponse | Failure): ReadResponse {
  if (outcome instanceof Failure) throw outcome
  return outcome
}

function summaryResponse(row: SummaryRow, requestHash: string): ReadResponse {
  return responseOf(row, etagOf(row, requestHash), bodyOf(row), undefined, Number(row.count))
}

function hasTooManyGroups({ count }: SummaryRow): boolean {
  return Number(count) > limits.summaryGroupsMax
}

/** Undefined if they cannot be carried, or if reading the records again is as fast. */
function groupsToCarry({
  version,
  lineage = null,
  groups = null,
  total,
}: SummaryRow): CachedGroups | undefined {
  if (lineage === null || groups === null || Number(total) <= limits.summaryCarriedRecordsMin)
    return undefined
  return { version, lineage, groups }
}

function changedMeanwhile(): Failure {
  return new Failure(
    'deadline_exceeded',
    'This summary takes longer to count than a request can wait. The service has counted it in the background, but records were written meanwhile. Leave out min and max, ' +
      'whose values cannot be carried across writes, or narrow the filter.',
  )
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
