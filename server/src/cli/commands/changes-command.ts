import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { accountNamed } from '../../accounts/directory.ts'
import type { ResourceName } from '../../catalog/resources.ts'
import { type ChangesQuery, changesQuery } from '../../changes/changes-query.ts'
import { type FeedPage, readFeedPage } from '../../changes/feed-page.ts'
import { type DefinitionsRow, readDefinitions } from '../../fields/definitions.ts'
import { limits } from '../../limits/limits.ts'
import { defaultLimits } from '../../limits/passed-limits.ts'
import { withClient } from '../../postgres/client.ts'
import type { Connection } from '../../postgres/connection.ts'
import type { ChangesRow } from '../../query/sql/changes-statement.ts'
import type { AccountScope } from '../../scope.ts'
import { grouped, type Output } from '../progress.ts'
import { auditRead } from './audited-read.ts'
import { queryStringOf, reasonOf } from './export-command.ts'

export interface ChangesOptions {
  readonly ownerUrl: string
  readonly account: string
  readonly resource: ResourceName
  readonly since?: string | undefined
  readonly filter?: string | undefined
  readonly fields?: string | undefined
  /** Continue with changes as they are written, until `stop` is aborted. */
  readonly follow?: boolean | undefined
  readonly stop: AbortSignal
  readonly stdout: Writable
  readonly stderr: Output
}

/** Writes one change per line. Returns the exit code, 0 or 1; in both cases the last cursor is printed to stderr. */
export async function changesCommand(options: ChangesOptions): Promise<number> {
  const { stderr, ownerUrl } = options
  let [count, cursor] = [0, options.since]
  let failure: string | undefined
  try {
    await withClient(ownerUrl, async (client) => {
      for await (const page of pagesOf(client, options)) {
        if (page.count > 0 && !options.stdout.write(`${page.changes}\n`)) await once(options.stdout, 'drain')
        count += page.count
        cursor = page.cursor
      }
    })
  } catch (error) {
    failure = reasonOf(error, ownerUrl)
  }
  if (failure !== undefined) stderr.write(`quartermaster: ${failure}\n`)
  const rest = cursor === undefined ? '' : `; continue with --since ${cursor}`
  if (failure === undefined || count > 0)
    stderr.write(`${grouped(count)} ${count === 1 ? 'change' : 'changes'}${rest}\n`)
  return failure === undefined ? 0 : 1
}

async function* pagesOf(client: Connection, options: ChangesOptions): AsyncGenerator<FeedPage> {
  const { resource, since, filter, fields, stop } = options
  const scope = await accountNamed(client, options.account)
  const limit = String(limits.pageRecordsMax)
  const text = queryStringOf({ since, fields, limit, filter })
  const current = () =>
    readDefinitions((statement) => client.read<DefinitionsRow>(statement), scope, resource)
  let own = await current()
  await auditRead(client, scope, { subject: resource, details: 'changes' }, options.stderr)
  let query = changesQuery(scope, own.resource, [text, 'body'])
  const nextPage = async (from: ChangesQuery['since']) => {
    for (;;) {
      const found = await pageAt(client, scope, query, from)
      const after = await current()
      if (after.schema === own.schema) return found
      // If a field was declared meanwhile, the records lack it, and would not be sent again.
      own = after
      query = query.planFor(after.resource)
    }
  }
  let page = await nextPage(query.since)
  for (;;) {
    yield page
    if (stop.aborted || (!page.more && options.follow !== true)) return
    if (!page.more) await sleep(defaultLimits.feedCheckMs, undefined, { signal: stop }).catch(() => {})
    page = await nextPage(page.end)
  }
}

function pageAt(
  client: Connection,
  scope: AccountScope,
  query: ChangesQuery,
  since: ChangesQuery['since'],
): Promise<FeedPage> {
  return readFeedPage((statement) => client.read<ChangesRow>(statement), scope, query, since, '\n')
}
