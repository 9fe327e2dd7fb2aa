import { limits as constants } from '../../server/src/limits/limits.ts'
import { defaultLimits } from '../../server/src/limits/passed-limits.ts'
import { count, duration, size } from './amounts.ts'
import { table } from './markdown.ts'

/** The limits that a user or an operator can meet. All others, with the reason of each, are in `server/src/limits/`. */

const all = { ...constants, ...defaultLimits }

/** A list of the kinds of a thing with the value of each. */
const each = (...parts: readonly (readonly [string, string])[]) =>
  parts.map(([what, value]) => `${what} ${value}`).join(', ')

const requests: readonly (readonly [string, string, string])[] = [
  ['Records per page', `default ${all.pageRecordsDefault}, up to ${count(all.pageRecordsMax)}`, '400'],
  ['URL', size(all.urlBytesMax), '414: use `QUERY`'],
  ['Request line and headers', size(all.headerBytesMax), '431'],
  [
    'Body',
    each(
      ['create or patch', size(all.createBodyBytesMax)],
      ['`QUERY`', size(all.queryBodyBytesMax)],
      ['batch as JSON', size(all.batchJsonBytesMax)],
    ),
    '413',
  ],
  [
    'Filter',
    each(['in a URL', size(all.filterUrlBytesMax)], ['in a body', size(all.filterBodyBytesMax)]),
    '400',
  ],
  [
    'Parts of a filter',
    `${all.filterConditionsMax} conditions, ${count(all.filterListValuesMax)} list values, ${all.filterDepthMax} nested parentheses`,
    '400',
  ],
  ['`search`', `${all.searchWordsMax} words, ${all.searchCharactersMax} characters`, '400'],
  ['Read', `${duration(all.readMsMax)} (\`QUARTERMASTER_READ_MS_MAX\`)`, '504'],
  ['Background count of a total or summary', duration(all.backgroundCountMsMax), '504 `total_pending`'],
  ['Write', duration(all.writeMsMax), '503, or `outcome_unknown`'],
  [
    'Receiving a request',
    each(['headers', duration(all.headersReceiveMsMax)], ['complete', duration(all.requestReceiveMsMax)]),
    'connection closed',
  ],
  ['Idle connection', duration(all.idleConnectionMsMax), 'connection closed'],
  ['Row of a batch, import or archive', size(all.importLineBytesMax), 'rejected'],
  ['Rows of a batch as JSON', count(all.batchRows), '400'],
  ['Rejected rows of a batch', count(all.batchRejectedRowsMax), 'batch ends'],
  [
    'Export',
    `${duration(all.exportMsMax)} (\`QUARTERMASTER_EXPORT_MS_MAX\`); ${duration(all.exportStallMsMax)} without progress`,
    'aborted',
  ],
  [
    'Summary',
    `${all.summaryGroupFieldsMax} fields in \`group\`, ${all.summaryMeasuresMax} in \`sum\`, \`min\`, \`max\` and \`avg\`, ${count(all.summaryGroupsMax)} groups`,
    '400',
  ],
  [
    'Changes per response',
    `default ${all.feedPageChangesDefault}, up to ${count(all.pageRecordsMax)}; \`wait\` up to ${all.feedWaitSecondsMax} seconds`,
    '400',
  ],
  ['Stream of changes', duration(all.feedStreamMsMax), 'ends: resume it'],
  [
    'Webhook message',
    `${all.webhookChangesMax} changes, ${size(all.webhookBodyBytesMax)}; ${duration(all.webhookRequestMsMax)} to respond`,
    'retried',
  ],
]

const accounts: readonly (readonly [string, string, string])[] = [
  [
    'Requests per minute',
    `${count(all.requestsPerMinute)}, of a key ${count(all.keyRequestsPerMinute)} ([can be set](accounts.md#rate-limits))`,
    '429',
  ],
  [
    'Long queries at once, of pages and of counts, in a process',
    `${all.accountReadsMax} (\`QUARTERMASTER_ACCOUNT_READS_MAX\`), ${all.accountReadsWaitingMax} queued`,
    '429',
  ],
  ['Writes queued', `${all.accountWritesWaitingMax}, for ${duration(all.accountWriteWaitMsMax)}`, '429'],
  ['Exports at once, in a process', `${all.accountExportsMax}; the second if a slot stays free`, '429'],
  [
    'Batches at once, in a process',
    `${all.accountBatchesMax}; the second if ${all.batchesSpare} slots stay free`,
    '429',
  ],
  ['Clients that wait for changes, in a process', count(all.accountFeedWaitersMax), '429'],
  ['Connections, to a process', count(all.accountConnectionsMax), 'closed after a response'],
  ['Records of a resource', `${count(all.recordsMax)} ([quota](accounts.md#quotas))`, '409'],
  [
    'Results for `Idempotency-Key`',
    `${count(all.idempotencyResultsMax)} in ${all.idempotencyHours} hours ([quota](accounts.md#quotas))`,
    '429',
  ],
  ['Audit entries', `${count(all.auditRowsMax)} ([quota](accounts.md#quotas))`, '409'],
  ['Keys', `${count(all.keysValidMax)} valid; ${count(all.keysStoredMax)} in all`, '409; oldest deleted'],
  ['Declared fields of a resource', count(all.ownFieldsMax), '409'],
  ['Webhooks', count(all.webhooksMax), '409'],
  ['Allowed origins of browsers', count(all.corsOriginsMax), '400'],
  [
    'Deletions in the feed, of a resource',
    `${all.tombstoneDays} days, ${count(all.tombstonesMax)}`,
    'cursors expire',
  ],
  ['Request log', `${all.requestLogDays} days, ${count(all.requestLogRowsMax)} entries`, 'oldest deleted'],
  [
    'Usage',
    `minutes ${all.usageMinuteDays} days, days ${all.usageDayDays} days, ${count(all.usageRowsMax)} rows each`,
    'oldest deleted',
  ],
  ['Delivery log', `${all.deliveryLogDays} days, ${count(all.deliveryLogRowsMax)} entries`, 'oldest deleted'],
]

const processes: readonly (readonly [string, string, string])[] = [
  ['Connections of clients', count(all.connectionsMax), 'closed'],
  [
    'Requests waiting for a key or short read',
    `${all.requestsWaitingMax}, or ${all.requestsWaitingMin} of which one has waited ${duration(all.requestsWaitingMsMax)}`,
    '503',
  ],
  [
    'Long reads queued, writes in flight',
    `${all.readsWaitingMax}, ${count(all.writesInFlightMax)}`,
    '429, 503',
  ],
  ['Exports, batches at once', `${all.exportsInFlightMax}, ${all.batchesInFlightMax}`, 'queued, then 503'],
  ['Clients that wait for changes', count(all.feedWaitersMax), '429'],
  [
    'Webhook requests at once',
    `${all.webhooksInFlightMax}, of an account ${all.accountWebhooksInFlightMax}`,
    'queued',
  ],
  [
    'Waiting for a database connection',
    each(['reads', duration(all.readWaitMsMax)], ['writes', duration(all.writeWaitMsMax)]),
    '503',
  ],
  [
    'Opening one',
    `${duration(all.connectMsMax)}, for commands ${duration(all.commandConnectMsMax)}`,
    '503; exit code 1',
  ],
  ["Write waiting for its account's lock", duration(all.writeLockMsMax), '503'],
  ['Replicas', count(all.replicasMax), 'rejected at startup'],
  ['Response cache', size(all.responseCacheBytesMax), 'oldest dropped'],
  ['Buffered log', size(all.logWaitingBytesMax), 'lines dropped'],

  [
    'Shutdown',
    `${duration(all.shutdownDelayMs)} serving (\`QUARTERMASTER_SHUTDOWN_DELAY_MS\`), ${duration(all.shutdownMsMax)} for requests in flight`,
    'aborted',
  ],
  [
    'Worker to become ready, to exit',
    `${duration(all.workerReadyMsMax)}, ${duration(all.workerExitMsMax)}`,
    'old one stays; killed',
  ],
]

/** Others are in the pages of their commands, with the name of the limit. */
const commands: readonly (readonly [string, string, string])[] = [
  [
    'Accounts or keys listed',
    `default ${all.commandRowsDefault}, up to ${count(all.commandRowsMax)}`,
    'accounts: use `--after`',
  ],
  ['Shards of a distributed table', count(all.shardsMax), 'exits with 1'],
]

const head = (what: string) => [what, 'Limit', 'Over it']

export const limitsOfRequests = () => table(head('Of a request'), requests)
export const limitsOfAccounts = () => table(head('Of an account'), accounts)
export const limitsOfProcesses = () => table(head('Of a process'), processes)
export const limitsOfCommands = () => table(head('Of commands'), commands)

/** In docs/filter-language.md. */
export const limitsOfFilters = () =>
  table(
    ['Limit', 'Maximum'],
    [
      ['Filter in a URL', `${size(all.filterUrlBytesMax)} of UTF-8, decoded`],
      ['Filter in the body of a `QUERY`', size(all.filterBodyBytesMax)],
      ['Conditions', count(all.filterConditionsMax)],
      ['List values, in all lists', count(all.filterListValuesMax)],
      ['Nested parentheses', count(all.filterDepthMax)],
    ],
  )
