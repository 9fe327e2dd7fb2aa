import { readFileSync } from 'node:fs'
import type { Check } from '../check.ts'
import { isForSeveralAccounts, tablesIn } from '../distribute.ts'
import { runTests } from './acceptance.ts'
import { CitusCluster } from './cluster.ts'
import { distributed } from './on-citus.ts'

/** The log of a node has every statement, and every command that Citus runs or sends to a worker for it. */
const logged = {
  log_statement: 'all',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_min_messages: 'notice',
  log_line_prefix: '%p|',
  'citus.log_remote_commands': 'on',
  'citus.log_local_commands': 'on',
}

interface Seen {
  readonly statement: string
  tasks: number
}

/**
 * Every statement of the requests of an acceptance run has one task, and no transaction is committed in two phases, except batches,
 * because Citus does that with every COPY to another node, and deletions of expired log rows, which are of no request.
 */
export const oneTaskEach: Check = {
  name: 'one_task_each',
  bound: '= all statements',
  async run(context) {
    const cluster = await CitusCluster.start(logged)
    const service = await distributed(cluster).catch(async (error: unknown) => {
      await cluster.stop()
      throw error
    })
    try {
      const { output, code } = await runTests(context, cluster.url)
      if (code !== 0) throw new Error(`the acceptance tests exited with ${code}:\n${output.slice(-3000)}`)
      const statements = new Map<string, number>()
      const prepared: string[] = []
      let copies = 0
      let deletions = 0
      for (const { log } of [cluster.coordinator, ...cluster.workers]) {
        const found = statementsIn(readFileSync(log, 'utf8'))
        prepared.push(...found.prepared)
        copies += found.copies
        deletions += found.deletions
        for (const [text, tasks] of found.statements)
          statements.set(text, Math.max(statements.get(text) ?? 0, tasks))
      }
      const wrong = [...statements].filter(([, tasks]) => tasks > 1)
      return {
        value: `${statements.size - wrong.length} of ${statements.size}, ${prepared.length} prepared`,
        samples: statements.size,
        ok: wrong.length === 0 && prepared.length === 0 && statements.size > 100,
        note: [
          `in two phases: ${copies} batches, ${deletions} deletions of expired log rows`,
          ...wrong.slice(0, 5).map(([statement, tasks]) => `${tasks} tasks: ${statement}`),
          ...prepared.slice(0, 20).map((statement) => `prepared after ${statement.slice(0, 300)}`),
        ].join('\n\n'),
      }
    } finally {
      await service.stop()
    }
  },
}

const ofRequest = /encode\(timestamptz_send\(pg_postmaster_start_time\(\)\), 'hex'\).* as system/
const statementPattern = /^LOG: {2}(?:statement|execute [^:]*): (.*)$/s
const commandPattern = /^NOTICE: {2}(?:issuing|executing the command locally:) (.*)$/s
const taskPattern =
  /^(?:select|insert|update|delete|with|copy (?!"[0-9_]+" from stdin with \(format result\)))/i

interface Found {
  /** The highest number of tasks of each text. */
  readonly statements: Map<string, number>
  /** The last statement before each two-phase commit without a COPY. */
  readonly prepared: string[]
  /** Two-phase commits with a COPY. */
  copies: number
  /** Two-phase commits of a DELETE for several accounts. */
  deletions: number
}

/** What connections that serve requests did. */
function statementsIn(log: string): Found {
  const serving = new Set<string>()
  const current = new Map<string, Seen>()
  const statements = new Map<string, number>()
  const found: Found = { statements, prepared: [], copies: 0, deletions: 0 }
  /** The last statement on a table, and whether the transaction has copied rows. */
  const written = new Map<string, string>()
  const copying = new Set<string>()
  const end = (pid: string) => {
    const seen = current.get(pid)
    current.delete(pid)
    if (seen === undefined || !serving.has(pid)) return
    if (tablesIn(seen.statement) === 0 || isForSeveralAccounts(seen.statement)) return
    statements.set(seen.statement, Math.max(statements.get(seen.statement) ?? 0, seen.tasks))
  }
  for (const [, pid = '', text = ''] of log.matchAll(/^(\d+)\|(.*(?:\n\t.*)*)$/gm)) {
    const statement = statementPattern.exec(text)?.[1]
    const command = commandPattern.exec(text)?.[1]
    if (statement !== undefined) {
      end(pid)
      if (ofRequest.test(statement)) serving.add(pid)
      if (/^begin/i.test(statement)) copying.delete(pid)
      if (/^copy .* from stdin/i.test(statement)) copying.add(pid)
      if (tablesIn(statement) > 0) written.set(pid, statement.replaceAll(/\s+/g, ' '))
      current.set(pid, { statement: statement.replaceAll(/\s+/g, ' '), tasks: 0 })
    } else if (command !== undefined) {
      const seen = current.get(pid)
      if (seen !== undefined && taskPattern.test(command) && !command.startsWith('SELECT assign_'))
        seen.tasks++
      if (!serving.has(pid) || !command.startsWith('PREPARE TRANSACTION')) continue
      const last = written.get(pid) ?? ''
      if (copying.has(pid)) found.copies++
      else if (/^delete /i.test(last) && isForSeveralAccounts(last)) found.deletions++
      else found.prepared.push(last)
    }
  }
  for (const pid of current.keys()) end(pid)
  return found
}
