import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DatabaseError } from 'pg'
import { accountNamed } from '../accounts/directory.ts'
import { type ResourceName, resources } from '../catalog/resources.ts'
import { Failure } from '../errors.ts'
import { countLineFeeds, exportBody } from '../lists/exports/export-body.ts'
import { startExport } from '../lists/exports/export-copy.ts'
import { exportQuery } from '../lists/plan-cache.ts'
import { withClient } from '../postgres/client.ts'
import { type ExportFormat, exportStatement } from '../query/sql/export-statement.ts'
import { stateName } from '../tally-state.ts'
import { databaseFault } from './database/database-fault.ts'
import { grouped, type Output, perSecond, showProgress } from './progress.ts'

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

/** 0: stdout has all of it; 1: it went wrong, and what is on stdout, if anything, is not whole. */
export async function exportCommand(options: ExportOptions): Promise<number> {
  let begun = false
  try {
    await writeAll(options, () => {
      begun = true
    })
    return 0
  } catch (error) {
    const rest = begun ? ' What was written so far is not whole: run it again.' : ''
    options.stderr.write(`quartermaster: ${reasonOf(error, options.ownerUrl)}${rest}\n`)
    return 1
  }
}

async function writeAll(options: ExportOptions, onBegin: () => void): Promise<void> {
  const { format, stdout, stderr } = options
  const resource = resources[options.resource]
  const { plan } = exportQuery(resource, rawOf(options), 'body', format)
  const start = performance.now()
  await withClient(options.ownerUrl, async (client) => {
    const scope = await accountNamed(client, options.account)
    const source = await startExport(client, scope, resource.name, exportStatement(scope, plan, format))
    const total = plan.where === undefined ? source.total : undefined
    // For progress alone: in CSV, a text of two lines counts for two.
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
        for await (const piece of body) {
          onBegin()
          lines += countLineFeeds(piece)
          yield piece
        }
      }
      await pipeline(Readable.from(counted()), stdout, { end: false })
    } finally {
      endProgress()
    }
    const seconds = (performance.now() - start) / 1000
    stderr.write(
      `${grouped(count)} ${resource.plural} in ${seconds.toFixed(1)} s (${grouped(perSecond(count, seconds))}/s), ` +
        `version ${stateName(source)}\n`,
    )
  })
}

/** The parameters as a request would send them: one reading of them, and the same errors. */
function rawOf({ filter, fields }: ExportOptions): string {
  return Object.entries({ fields, filter })
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => `${name}=${encodeURIComponent(text ?? '')}`)
    .join('&')
}

function reasonOf(error: unknown, url: string): string {
  if (error instanceof Failure) return faultText(error)
  const fault = databaseFault(error, url, 'DATABASE_OWNER_URL')
  if (fault !== undefined) return `${fault.message} ${fault.repair}`
  if (error instanceof DatabaseError) return `PostgreSQL says: ${error.message}.`
  // What `pg` says of a connection that broke has neither a code nor an end.
  if (error instanceof Error && error.message.startsWith('Connection terminated'))
    return 'The connection to the database broke.'
  return error instanceof Error ? error.message : String(error)
}

/** Every fault with its place, and how the whole should be written where that is known. */
function faultText({ message, faults }: Failure): string {
  if (faults.length === 0) return message
  return faults
    .map(({ parameter, message: what, offset, suggestion }) => {
      const place = offset === undefined ? '' : ` (at ${offset} in --${parameter})`
      return `${what}${place}${suggestion === undefined ? '' : ` Write: ${suggestion}`}`
    })
    .join('\n')
}
