import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import {
  type Applied,
  appliedJson,
  applyAccount,
  differing,
  type MemberChange,
} from '../../accounts/lifecycle/apply.ts'
import { describedAccounts, type NamedDescription } from '../../accounts/lifecycle/description.ts'
import type { Config } from '../../config/config.ts'
import { limits } from '../../limits/limits.ts'
import { withClient } from '../../postgres/client.ts'
import type { Connection } from '../../postgres/connection.ts'
import { type CommandFailure, commandFailure, UsageError } from '../command-error.ts'
import { explainErrors, ownerUrl } from '../database/owner.ts'
import { operator } from '../operator.ts'
import { note, printJson, printLine } from '../print.ts'
import { showProgress } from '../progress.ts'

export interface ApplyOptions {
  readonly dryRun?: boolean
  readonly json?: boolean
}

type Outcome = { readonly applied: Applied } | { readonly name: string; readonly failure: CommandFailure }

/**
 * Each account is changed in a transaction of its own, and what was changed is printed as soon as it is committed: a new key cannot be
 * shown again. Returns the exit code, that of the first account that could not be applied.
 */
export async function accountApply(config: Config, file: string, options: ApplyOptions): Promise<number> {
  const descriptions = describedAccounts(await jsonOf(file))
  const counts = { created: 0, changed: 0, unchanged: 0, failed: 0 }
  let exitCode = 0
  const report = (outcome: Outcome) => {
    if ('applied' in outcome) counts[outcome.applied.result]++
    else {
      counts.failed++
      exitCode ||= outcome.failure.exitCode
    }
    print(outcome, options)
  }
  const owner = ownerUrl(config)
  await explainErrors(owner, async () => {
    const stop = showProgress(process.stderr, 'accounts', () => ({
      done: counts.created + counts.changed + counts.unchanged + counts.failed,
    }))
    try {
      await withConnections(
        owner.url,
        Math.min(limits.applyConnections, descriptions.length),
        (connections) => applyAll(connections, descriptions, options, report),
      )
    } finally {
      stop()
    }
  })
  if (options.json === true) printJson({ ...counts, dry_run: options.dryRun === true })
  else {
    const did = options.dryRun === true ? 'would be' : 'were'
    note(
      `${counts.created} accounts ${did} created, ${counts.changed} changed; ${counts.unchanged} are as described` +
        (counts.failed === 0 ? '.' : `; ${counts.failed} failed.`),
    )
  }
  return exitCode
}

async function applyAll(
  connections: readonly Connection[],
  descriptions: readonly NamedDescription[],
  { dryRun: isDryRun = false }: ApplyOptions,
  report: (outcome: Outcome) => void,
): Promise<void> {
  let next = 0
  const worker = async (connection: Connection) => {
    while (next < descriptions.length) {
      const batch = descriptions.slice(next, next + limits.applyCompareAccounts)
      next += batch.length
      const names = await differing(connection, batch)
      for (const description of batch) {
        const { name } = description
        if (!names.has(name)) {
          report({ applied: { name, result: 'unchanged', changes: [], keys: [] } })
          continue
        }
        try {
          report({ applied: await applyAccount(connection, operator(), description, { isDryRun }) })
        } catch (error) {
          const failure = commandFailure(error)
          // A broken connection or an unknown error fails the other accounts, too.
          if (failure.code === 'failed') throw error
          report({ name, failure })
        }
      }
    }
  }
  await Promise.all(connections.map(worker))
}

/** Opens them one after the other, and closes all at the end. */
async function withConnections(
  url: string,
  count: number,
  work: (connections: readonly Connection[]) => Promise<void>,
  opened: readonly Connection[] = [],
): Promise<void> {
  if (opened.length >= count) await work(opened)
  else await withClient(url, (connection) => withConnections(url, count, work, [...opened, connection]))
}

async function jsonOf(file: string): Promise<unknown> {
  try {
    return JSON.parse(file === '-' ? await text(process.stdin) : readFileSync(file, 'utf8'))
  } catch (error) {
    throw new UsageError(
      `${file} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}.`,
    )
  }
}

function print(outcome: Outcome, { json = false }: ApplyOptions): void {
  if (!('applied' in outcome)) {
    const { code, message } = outcome.failure
    if (json) printJson({ name: outcome.name, result: 'failed', error: { code, message } })
    else note(`${outcome.name}: ${message}`)
    return
  }
  const { name, result, changes, keys } = outcome.applied
  if (result === 'unchanged') return
  if (json) printJson(appliedJson(outcome.applied))
  else {
    printLine([`${name}: ${result}`, ...changes.map(changeText)].join('; '))
    for (const { name: keyName, key } of keys) printLine(`${name}: key ${JSON.stringify(keyName)} ${key}`)
  }
}

function changeText({ member, from, to }: MemberChange): string {
  if (from === null && member === 'keys') return `a new key ${JSON.stringify(to)}`
  return `${member} from ${JSON.stringify(from)} to ${JSON.stringify(to)}`
}
