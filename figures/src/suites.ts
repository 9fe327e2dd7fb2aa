import { oneAccount } from './distribute.ts'
import { exactlyOnce } from './exactly-once.ts'
import type { Figure } from './figure.ts'
import { exportProof } from './filter-proof/export-proof.ts'
import { noInjection } from './filter-proof/injection.ts'
import { largeProof } from './filter-proof/large-proof.ts'
import { filterProof } from './filter-proof/proof.ts'
import { rawForms } from './filter-proof/raw-forms.ts'
import { firstMinute } from './first-minute.ts'
import { neverLost } from './fresh/never-lost.ts'
import { brokenIsCaught, neverStale } from './fresh/never-stale.ts'
import { importKilled } from './import/killed.ts'
import { importRate } from './import/rate.ts'
import { clientSize } from './integrators/client-size.ts'
import { exportConsistent } from './integrators/export-consistent.ts'
import { exportMemory } from './integrators/export-memory.ts'
import { exportTime } from './integrators/export-time.ts'
import { guidesWork } from './integrators/guides.ts'
import { packedClient } from './integrators/packed-client.ts'
import { referencePage } from './integrators/reference-page.ts'
import { roundTrip } from './integrators/round-trip.ts'
import { createsUnderFire, syncUnderFire } from './integrators/sync-under-fire.ts'
import { typeCases } from './integrators/type-cases.ts'
import { noLeak } from './no-leak/no-leak.ts'
import { parserLinear } from './parser/linear.ts'
import { printIdentity } from './parser/print-identity.ts'
import { parserStrings } from './parser/strings.ts'
import { oneBuffers, pageBuffers, plansIndexed, walksInOrder } from './plans/plans.ts'
import { abuse } from './trust/abuse.ts'
import { alertFires } from './trust/alert-fires.ts'
import { cardinality } from './trust/cardinality.ts'
import { epoch } from './trust/epoch.ts'
import { inputsLinear } from './trust/inputs-linear.ts'
import { jitStorm } from './trust/jit-storm.ts'
import { limitsShared } from './trust/limits-shared.ts'
import { noisyNeighbour } from './trust/noisy-neighbour.ts'
import { overload } from './trust/overload.ts'
import { redisKilled } from './trust/redis-killed.ts'
import { revocation } from './trust/revocation.ts'
import { secrets } from './trust/secrets.ts'
import { switchover } from './trust/switchover.ts'
import { telemetryCost } from './trust/telemetry-cost.ts'
import { writesFair } from './trust/writes-fair.ts'
import { wrongChecksum } from './trust/wrong-checksum.ts'
import { wrongKeys } from './trust/wrong-keys.ts'

/**
 * What `npm run figures -- NAME` runs, in this order. `no_injection` looks at the statements that the figures before
 * it caused, so it stands after them; `filter_proof_large` imports more rows, so it stands after that.
 */
export const suites: Record<string, readonly Figure[]> = {
  service: [
    printIdentity,
    parserStrings,
    parserLinear,
    filterProof,
    exportProof,
    rawForms,
    noInjection,
    largeProof,
    noLeak,
    exactlyOnce,
    oneAccount,
    plansIndexed,
    walksInOrder,
    pageBuffers,
    oneBuffers,
    importRate,
    importKilled,
    firstMinute,
  ],
  lists: [neverStale, brokenIsCaught, neverLost],
  integrators: [
    packedClient,
    clientSize,
    typeCases,
    roundTrip,
    syncUnderFire,
    createsUnderFire,
    guidesWork,
    exportMemory,
    exportTime,
    exportConsistent,
    referencePage,
  ],
  trust: [
    revocation,
    wrongKeys,
    wrongChecksum,
    inputsLinear,
    secrets,
    alertFires,
    cardinality,
    telemetryCost,
    limitsShared,
    redisKilled,
    noisyNeighbour,
    writesFair,
    jitStorm,
    overload,
    abuse,
    epoch,
    switchover,
  ],
}
