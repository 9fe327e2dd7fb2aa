import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DatabaseError } from 'pg'
import { accountNamed } from '../../accounts/directory.ts'
import type { ResourceName } from '../../catalog/resources.ts'
import { snapshotCursor } from '../../changes/feed-page.ts'
import { Failure } from '../../errors/errors.ts'
import { type DefinitionsRow, readDefinitions } from '../../fields/definitions.ts'
import { countLineFeeds, exportBody } from '../../lists/exports/export-body.ts'
import { primaryTally, type StartedExport, startExport } from '../../lists/exports/export-copy.ts'
import { exportQuery } from '../../lists/plan-cache.ts'
import { withClient } from '../../postgres/client.ts'
import { type ExportFormat, exportStatement } from '../../query/sql/export-statement.ts'
import type { AccountScope } from '../../scope.ts'
import { stateName } from '../../tally-state.ts'
import { databaseFault } from '../database/database-fault.ts'
import { grouped, type Output, perSecond, showProgress } from '../progress.ts'
import { auditRead } from './audited-read.ts'

export interface ExportOptions {
  readonly ownerUrl: string
  readonly account: string
  readonly resource: ResourceName
  readonly filter?: string | undefined
  readonly fields?: string | undefined
  readonly format: ExportFormat
  readonly stdout: Writable
  readonly stderr: Output
}

/** Returns the exit code. 0: the output is complete; 1: the export failed, and the output, if any, is truncated. */
export async function exportCommand(options: ExportOptions): Promise<number> {
  let started = false
  try {
    await writeAll(options, () => {
      started = true
    })
    return 0
  } catch (error) {
    const hint = started ? ' The output is incomplete: run the command again.' : ''
    options.stderr.write(`quartermaster: ${reasonOf(error, options.ownerUrl)}${hint}\n`)
    return 1
  }
}

async function writeAll(options: ExportOptions, onStart: () => void): Promise<void> {
  const { format, stdout, stderr } = options
  const start = performance.now()
  await withClient(options.ownerUrl, async (client) => {
    const scope = await accountNamed(client, options.account)
    const current = () =>
      readDefinitions((statement) => client.read<DefinitionsRow>(statement), scope, options.resource)
    const { resource, schema } = await current()
    const parameters = queryStringOf({ fields: options.fields, filter: options.filter })
    const { plan, feedFilter } = exportQuery(resource, parameters, 'body', format)
    const copy = exportStatement(scope, plan, format)
    const read = { subject: resource.name, details: `records as ${format}` }
    await auditRead(client, scope, read, stderr)
    const source = await startExport(client, { scope, resource: resource.name, copy }, primaryTally)
    const total = plan.where === undefined ? source.total : undefined
    // Only for progress: a CSV text with a line feed counts twice.
    let lines = 0
    let count = 0
    const endProgress = showProgress(stderr, resource.plural, () => ({
      done: lines,
      fraction: total === undefined ? undefined : Math.min(1, lines / Math.max(1, total)),
    }))
    const body = exportBody(source, format, plan.fields, (records) => {
      count = records
    })
    try {
      const counted = async function* () {
        for await (const chunk of body) {
          onStart()
          lines += countLineFeeds(chunk)
          yield chunk
        }
      }
      await pipeline(Readable.from(counted()), stdout, { end: false })
    } finally {
      endProgress()
    }
    const seconds = (performance.now() - start) / 1000
    // If a field was declared meanwhile, the records may lack it. Whoever continued from the cursor would never get its values.
    const isWhole = (await current()).schema === schema
    stderr.write(
      `${grouped(count)} ${resource.plural} in ${seconds.toFixed(1)} s (${grouped(perSecond(count, seconds))}/s), ` +
        `version ${stateName(source)}${cursorText(scope, isWhole ? feedFilter : undefined, resource.name, source)}\n`,
    )
  })
}

/** The cursor of the snapshot, with which `quartermaster changes` and the API continue. */
function cursorText(
  scope: AccountScope,
  feedFilter: string | undefined,
  resource: ResourceName,
  source: StartedExport,
): string {
  if (feedFilter === undefined) return ''
  const feed = { accountId: scope.accountId, resource, filterKey: feedFilter }
  return `, cursor ${snapshotCursor(feed, source)}`
}

/** The options as the query string of a request, so that they are parsed, and rejected, like a request. */
export function queryStringOf(parameters: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(parameters)
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => `${name}=${encodeURIComponent(text ?? '')}`)
    .join('&')
}

/** Why a command that reads an account failed. */
export function reasonOf(error: unknown, url: string): string {
  if (error instanceof Failure) return faultText(error)
  const fault = databaseFault(error, url, 'DATABASE_OWNER_URL')
  if (fault !== undefined) return `${fault.message} ${fault.repair}`
  if (error instanceof DatabaseError) return `PostgreSQL reports: ${error.message}.`
  // `pg` reports a lost connection by an error without a code.
  if (error instanceof Error && error.message.startsWith('Connection terminated'))
    return 'The connection to the database was lost.'
  return error instanceof Error ? error.message : String(error)
}

/** Every fault with its offset and, if known, the corrected filter. */
function faultText({ message, faults }: Failure): string {
  if (faults.length === 0) return message
  return faults
    .map(({ parameter, message: fault, offset, suggestion }) => {
      const position = offset === undefined ? '' : ` (at offset ${offset} of --${parameter})`
      return `${fault}${position}${suggestion === undefined ? '' : ` Suggestion: ${suggestion}`}`
    })
    .join('\n')
}
