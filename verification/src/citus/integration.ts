import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Check } from '../check.ts'
import { CitusCluster } from './cluster.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Statements that no acceptance test causes: sweeps, quotas, retries of webhooks, dates under a lock, commands of administrators. */
const files = [
  'journal-sweep',
  'quotas',
  'write-dates',
  'external-ids',
  'import-replace',
  'webhook-delivery',
  'webhook-master-key',
  'fields',
  'unique-fields',
  'value-index',
]

/**
 * Integration tests whose databases are distributed before the last migrations, and migrated then. One file at a time: each
 * changes the settings of the same roles.
 */
export const integrationOnCitus: Check = {
  name: 'integration',
  bound: 'all pass',
  async run() {
    const cluster = await CitusCluster.start({ shared_preload_libraries: 'pg_stat_statements' })
    try {
      const nodes = [cluster.coordinator, ...cluster.workers].map((node) => node.url('postgres'))
      const { output, code } = await runTests(nodes)
      const summary = /^integration: (.*)/m.exec(output)?.[1] ?? 'no summary'
      const [databases] = await cluster.onCoordinator<{ n: number }>(
        `select count(*)::int as n from pg_database where datname like 'test\\_%'`,
      )
      return {
        value: summary,
        samples: Math.min(Number(/^(\d+) passed/.exec(summary)?.[1] ?? 0), databases?.n ?? 0),
        ok: code === 0,
        ...(code === 0 ? {} : { note: output.slice(-4000) }),
      }
    } finally {
      await cluster.stop()
    }
  },
}

function runTests(
  nodes: readonly string[],
): Promise<{ readonly output: string; readonly code: number | null }> {
  const paths = files.map((file) => `server/test/${file}.test.ts`)
  const child = spawn(join(root, 'node_modules/.bin/vitest'), ['run', '--no-file-parallelism', ...paths], {
    cwd: root,
    env: { ...process.env, SUITE: 'integration', TEST_CITUS_NODES: nodes.join(',') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  return new Promise((resolve) => child.once('close', (code) => resolve({ output, code })))
}
