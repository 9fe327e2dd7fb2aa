import { carriedHoles, carriedTotals } from './changes/carried-totals.ts'
import { feedCopy } from './changes/feed-copy.ts'
import { webhookDelay } from './changes/webhook-delay.ts'
import { webhookKills } from './changes/webhook-kills.ts'
import {
  chaosLost,
  chaosStale,
  fullDisk,
  longestWait,
  readyzWrong,
  writeBackKilled,
  writeBackSwitchover,
} from './chaos/checks.ts'
import { asyncControl } from './chaos/control.ts'
import { runbook } from './chaos/runbook.ts'
import { soak } from './chaos/soak.ts'
import type { Check } from './check.ts'
import { acceptanceOnCoordinator, acceptanceOnWorker } from './citus/acceptance.ts'
import { databaseCpu } from './citus/cpu.ts'
import { citusFeedCopy } from './citus/feed-copy.ts'
import { integrationOnCitus } from './citus/integration.ts'
import { isolation, rebalance } from './citus/moves.ts'
import { onCitus } from './citus/on-citus.ts'
import { oneTaskEach } from './citus/tasks.ts'
import { workerFailover } from './citus/worker-failover.ts'
import { workerStopped } from './citus/worker-stopped.ts'
import { assistive } from './console/assistive.ts'
import { axeFindings } from './console/axe.ts'
import { changes as consoleChanges } from './console/changes.ts'
import { fieldsAndImport } from './console/fields-and-import.ts'
import { filter } from './console/filter-journey.ts'
import { errorOffsets, filterRoundtrip } from './console/filters.ts'
import { generatedByJava, generatedClients } from './console/generated-clients.ts'
import { grid } from './console/grid.ts'
import { browse, create, keys, palette, request, usage } from './console/journeys.ts'
import { keyLifecycle } from './console/keys.ts'
import { languages } from './console/languages.ts'
import { loadFailures } from './console/load-failures.ts'
import { ownFields } from './console/own-fields.ts'
import { reference } from './console/reference.ts'
import { csp, keysNowhere } from './console/secrecy.ts'
import { bundleSize, firstView, scrolling } from './console/speed.ts'
import { usageDetails } from './console/usage.ts'
import { webhooks } from './console/webhooks.ts'
import { write } from './console/write.ts'
import { oneAccount } from './distribute.ts'
import { exactlyOnce } from './exactly-once.ts'
import { epoch } from './failover/epoch.ts'
import { switchover } from './failover/switchover.ts'
import { adjustExact } from './fields/adjust-exact.ts'
import { cors } from './fields/cors.ts'
import { declarationsUnderLoad } from './fields/declarations-under-load.ts'
import { declaredFields } from './fields/declared-fields.ts'
import { keysOneRecord } from './fields/keys-one-record.ts'
import { syncWithoutMapping } from './fields/sync-without-mapping.ts'
import { exportProof } from './filter-proof/export-proof.ts'
import { noInjection } from './filter-proof/injection.ts'
import { largeProof } from './filter-proof/large-proof.ts'
import { filterProof } from './filter-proof/proof.ts'
import { rawForms } from './filter-proof/raw-forms.ts'
import { firstMinute } from './first-minute.ts'
import { neverLost } from './fresh/never-lost.ts'
import { brokenIsCaught, neverStale } from './fresh/never-stale.ts'
import { errorSizes } from './guard/error-sizes.ts'
import { incrementalSync } from './guard/incremental-sync.ts'
import { importKilled } from './import/killed.ts'
import { clientSize } from './integrators/client-size.ts'
import { exportConsistent } from './integrators/export-consistent.ts'
import { guidesWork } from './integrators/guides.ts'
import { packedClient } from './integrators/packed-client.ts'
import { referencePage } from './integrators/reference-page.ts'
import { roundTrip } from './integrators/round-trip.ts'
import { createsUnderFire, syncUnderFire } from './integrators/sync-under-fire.ts'
import { typeCases } from './integrators/type-cases.ts'
import { accountDeleted } from './lifecycle/account-deleted.ts'
import { accountsApplied } from './lifecycle/accounts-applied.ts'
import { attributed } from './lifecycle/attributed.ts'
import { operatorScopesRight } from './lifecycle/operator-scopes.ts'
import { personErased } from './lifecycle/person-erased.ts'
import { settingsReloaded } from './lifecycle/settings-reloaded.ts'
import { noLeak } from './no-leak/no-leak.ts'
import { odooBirths } from './odoo/odoo-births.ts'
import { odooCopy } from './odoo/odoo-copy.ts'
import { odooGuards } from './odoo/odoo-guards.ts'
import { odooFirstLoad, odooIdle } from './odoo/odoo-idle.ts'
import { odooLag } from './odoo/odoo-lag.ts'
import { odooMemory } from './odoo/odoo-memory.ts'
import { sortExact } from './order/sort-exact.ts'
import { summaryExact } from './order/summary.ts'
import { printIdentity } from './parser/print-identity.ts'
import { parserStrings } from './parser/strings.ts'
import { oneBuffers, pageBuffers, pagesInOrder, plansIndexed } from './plans/plans.ts'
import { readsBounded } from './plans/reads.ts'
import { replicaLoad } from './replicas/replica-load.ts'
import { replicaReads } from './replicas/replica-reads.ts'
import { composeStack } from './ship/containers/compose-stack.ts'
import { imageWorks } from './ship/containers/image.ts'
import { imageSecrets } from './ship/containers/image-secrets.ts'
import { kubernetesManifests } from './ship/containers/kubernetes.ts'
import { kubernetesPod } from './ship/containers/kubernetes-pod.ts'
import { restartPods } from './ship/containers/restart-pods.ts'
import { disk } from './ship/disk.ts'
import { operatorDocuments } from './ship/operator-documents.ts'
import { haproxyPasses, nginxPasses } from './ship/proxies/proxy-passes.ts'
import { restartSighup, workerKilled } from './ship/restarts/restart-sighup.ts'
import { restartHaproxy, restartNginx } from './ship/restarts/restarts.ts'
import { upgrade } from './ship/restarts/upgrade.ts'
import { accountRestore } from './ship/restores/account-restore.ts'
import { backupRestore } from './ship/restores/backup-restore.ts'
import { restoredRoles } from './ship/restores/restored-roles.ts'
import { secretsShipped } from './ship/secrets-shipped.ts'
import { systemdUnits } from './ship/systemd.ts'
import { tarballAlone, tarballs } from './ship/tarballs.ts'
import {
  ownHost,
  axeFindings as siteAxe,
  firstView as siteFirstView,
  requests as siteRequests,
} from './site/browser.ts'
import { links, navigation } from './site/links.ts'
import { search } from './site/search.ts'
import { alertFires } from './trust/alert-fires.ts'
import { cardinality } from './trust/cardinality.ts'
import { revocation } from './trust/revocation.ts'
import { secrets } from './trust/secrets.ts'

/**
 * The checks of `npm run verify -- SUITE`, in this order. `no_injection` reads the statements that the checks before it
 * caused, so it runs after them. `filter_proof_large` imports more rows, so it runs after that.
 */
export const suites: Record<string, readonly Check[]> = {
  service: [
    printIdentity,
    parserStrings,
    filterProof,
    exportProof,
    rawForms,
    noInjection,
    largeProof,
    noLeak,
    exactlyOnce,
    oneAccount,
    plansIndexed,
    readsBounded,
    pagesInOrder,
    pageBuffers,
    oneBuffers,
    importKilled,
    firstMinute,
  ],
  lists: [neverStale, brokenIsCaught, neverLost, replicaReads, replicaLoad],
  changes: [carriedTotals, carriedHoles, feedCopy, webhookKills, webhookDelay],
  integrators: [
    packedClient,
    clientSize,
    typeCases,
    roundTrip,
    syncUnderFire,
    createsUnderFire,
    guidesWork,
    exportConsistent,
    referencePage,
  ],
  ship: [
    tarballs,
    tarballAlone,
    operatorDocuments,
    nginxPasses,
    haproxyPasses,
    systemdUnits,
    kubernetesManifests,
    restartNginx,
    restartHaproxy,
    imageWorks,
    imageSecrets,
    restartPods,
    kubernetesPod,
    composeStack,
    upgrade,
    backupRestore,
    restoredRoles,
    accountRestore,
    disk,
    secretsShipped,
    restartSighup,
    workerKilled,
  ],
  // `csp` and `keys_nowhere` read what the browser did in the checks before them.
  console: [
    generatedClients,
    generatedByJava,
    browse,
    grid,
    write,
    filter,
    ownFields,
    request,
    create,
    keys,
    keyLifecycle,
    webhooks,
    fieldsAndImport,
    consoleChanges,
    usage,
    usageDetails,
    palette,
    reference,
    loadFailures,
    languages,
    filterRoundtrip,
    errorOffsets,
    axeFindings,
    assistive,
    bundleSize,
    firstView,
    scrolling,
    keysNowhere,
    csp,
  ],
  // The first check lets all faults happen. `chaos_async_control` changes the cluster, so it is the last one.
  chaos: [
    chaosLost,
    chaosStale,
    writeBackKilled,
    writeBackSwitchover,
    longestWait,
    readyzWrong,
    fullDisk,
    runbook,
    soak,
    asyncControl,
  ],
  citus: (
    [
      acceptanceOnCoordinator,
      acceptanceOnWorker,
      integrationOnCitus,
      oneTaskEach,
      workerFailover,
      workerStopped,
      rebalance,
      isolation,
      databaseCpu,
      // 10,000 filters and 100,000 responses: a statement takes ten times as long as on one server.
      ...[filterProof, neverStale].map((check) => onCitus(check, 0.1)),
      ...[exactlyOnce, carriedTotals, incrementalSync].map((check) => onCitus(check)),
      citusFeedCopy,
    ] satisfies Check[]
  ).map((check) => ({ ...check, needs: ['citus'] })),
  // No key can hurt another account, and the documented way to follow changes loses none.
  guard: [errorSizes, incrementalSync],
  // Conditional writes, and what only accounts have that have configured it.
  fields: [adjustExact, keysOneRecord, declaredFields, declarationsUnderLoad, syncWithoutMapping, cors],
  // The connector next to a real Odoo.
  odoo: [odooIdle, odooFirstLoad, odooLag, odooGuards, odooCopy, odooBirths, odooMemory],
  // What reads many records of an account at once.
  lifecycle: [
    accountsApplied,
    operatorScopesRight,
    accountDeleted,
    attributed,
    personErased,
    settingsReloaded,
  ],
  order: [sortExact, summaryExact],
  // `requests` reads what the browser did in the checks before it.
  site: [links, navigation, search, ownHost, siteAxe, siteFirstView, siteRequests],
  trust: [revocation, secrets, alertFires, cardinality, epoch, switchover],
}
