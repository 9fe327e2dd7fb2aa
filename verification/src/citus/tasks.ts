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

/** Every statement of the requests of an acceptance run has one task, and no transaction is committed in two phases. */
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
      let prepared = 0
      for (const { log } of [cluster.coordinator, ...cluster.workers]) {
        const found = statementsIn(readFileSync(log, 'utf8'))
        prepared += found.prepared
        for (const [text, tasks] of found.statements)
          statements.set(text, Math.max(statements.get(text) ?? 0, tasks))
      }
      const wrong = [...statements].filter(([, tasks]) => tasks > 1)
      return {
        value: `${statements.size - wrong.length} of ${statements.size}, ${prepared} prepared`,
        ok: wrong.length === 0 && prepared === 0 && statements.size > 100,
        note: wrong
          .slice(0, 5)
          .map(([statement, tasks]) => `${tasks} tasks: ${statement}`)
          .join('\n\n'),
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

/** The highest number of tasks of each text, and two-phase commits, on connections that serve requests. */
function statementsIn(log: string): { statements: Map<string, number>; prepared: number } {
  const serving = new Set<string>()
  const current = new Map<string, Seen>()
  const statements = new Map<string, number>()
  let prepared = 0
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
      current.set(pid, { statement: statement.replaceAll(/\s+/g, ' '), tasks: 0 })
    } else if (command !== undefined) {
      const seen = current.get(pid)
      if (seen !== undefined && taskPattern.test(command) && !command.startsWith('SELECT assign_'))
        seen.tasks++
      if (serving.has(pid) && command.startsWith('PREPARE TRANSACTION')) prepared++
    }
  }
  for (const pid of current.keys()) end(pid)
  return { statements, prepared }
}
