import type { Check } from '../../verification/src/check.ts'
import { carryRatio } from './changes/carry-ratio.ts'
import { feedPage } from './changes/feed-page.ts'
import { feedWaiters } from './changes/feed-waiters.ts'
import { journalCost } from './changes/journal-cost.ts'
import { listWhileWritten } from './changes/list-while-written.ts'
import { batchByKey, importTenFields } from './fields/bulk-by-key.ts'
import { declaredFilters } from './fields/declared-filters.ts'
import { getByKey } from './fields/get-by-key.ts'
import { attackBenchmarks } from './guard/attacks.ts'
import { growthBound } from './guard/growth.ts'
import { inputsLinear } from './guard/inputs-linear.ts'
import { slowSenders } from './guard/slow-senders.ts'
import { carriedSummary } from './large/carried-summary.ts'
import { countsAfterUpdates } from './large/counts-after-updates.ts'
import { besideCounts, firstCounts } from './large/first-counts.ts'
import { relationLocks } from './large/relation-locks.ts'
import { sortedPages } from './large/sorted-pages.ts'
import { allStock, stockUpdates } from './large/stock-updates.ts'
import { walkAfterId } from './large/walk-after-id.ts'
import { abuse } from './load/abuse.ts'
import { jitStorm } from './load/jit-storm.ts'
import { limitsShared } from './load/limits-shared.ts'
import { noisyNeighbour } from './load/noisy-neighbour.ts'
import { overload } from './load/overload.ts'
import { parserLinear } from './load/parser-linear.ts'
import { redisKilled } from './load/redis-killed.ts'
import { telemetryCost } from './load/telemetry-cost.ts'
import { writesFair } from './load/writes-fair.ts'
import { wrongKeys } from './load/wrong-keys.ts'
import { growAccounts, growRecords } from './ratios/grow.ts'
import { jump } from './ratios/jump.ts'
import { memory } from './ratios/memory.ts'
import { pagingFlat, pagingRate } from './ratios/paging.ts'
import { processesRatio } from './ratios/processes.ts'
import { rates } from './ratios/rates.ts'
import { totalAgain } from './ratios/total-again.ts'
import { batchRate } from './transfer/batch-rate.ts'
import { exportMemory } from './transfer/export-memory.ts'
import { exportTime } from './transfer/export-time.ts'
import { importRate } from './transfer/import-rate.ts'

/**
 * The benchmarks of `npm run bench -- SUITE`, in this order. In `ratios`, the largest data set is loaded last, and `memory`
 * reports the peak of all servers before it.
 */
export const suites: Readonly<Record<string, readonly Check[]>> = {
  ratios: [
    ...rates,
    processesRatio,
    ...totalAgain,
    pagingFlat,
    pagingRate,
    jump,
    growAccounts,
    growRecords,
    memory,
  ],
  changes: [carryRatio, journalCost, listWhileWritten, feedPage, feedWaiters],
  transfer: [importRate, batchRate, exportTime, exportMemory],
  load: [
    parserLinear,
    wrongKeys,
    telemetryCost,
    limitsShared,
    redisKilled,
    noisyNeighbour,
    writesFair,
    jitStorm,
    overload,
    abuse,
  ],
  // The last three change the data.
  large: [
    firstCounts,
    besideCounts,
    walkAfterId,
    sortedPages,
    relationLocks,
    carriedSummary,
    stockUpdates,
    countsAfterUpdates,
    allStock,
  ],
  fields: [getByKey, ...declaredFilters, batchByKey, importTenFields],
  guard: [inputsLinear, ...slowSenders, ...attackBenchmarks, growthBound],
}
