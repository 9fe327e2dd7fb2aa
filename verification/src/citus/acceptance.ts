import { runAcceptanceTests } from '../acceptance-tests.ts'
import type { Check, Context } from '../check.ts'
import type { CitusCluster } from './cluster.ts'
import { withCluster } from './on-citus.ts'

/** The files of the short form: every kind of statement, without the tests that wait for minutes. */
const shortForm = ['writes', 'batch', 'changes', 'export', 'manage', 'webhooks', 'spec-4', 'decisions-create']

/** The acceptance tests, with each kind of node as the one that the service is connected to. */
export const acceptanceOnCoordinator = acceptance('acceptance', (cluster) => cluster.url)
export const acceptanceOnWorker = acceptance(
  'acceptance_worker',
  (cluster) => cluster.workers[0]?.url('postgres') ?? '',
)

function acceptance(name: string, entry: (cluster: CitusCluster) => string): Check {
  return {
    name,
    bound: 'all pass',
    run: (context) =>
      withCluster(context, async (cluster) => {
        const { output, code } = await runTests(context, entry(cluster))
        const summary = /acceptance: .*/.exec(output)?.[0] ?? 'no summary'
        return {
          value: summary.replace('acceptance: ', ''),
          samples: Number(/acceptance: (\d+) passed/.exec(output)?.[1] ?? 0),
          ok: code === 0,
          ...(code === 0 ? {} : { note: output.slice(-4000) }),
        }
      }),
  }
}

/** Runs the tests, or those of the short form, on a database that is distributed already. */
export function runTests(
  context: Context,
  databaseUrl: string,
): Promise<{ readonly output: string; readonly code: number | null }> {
  return runAcceptanceTests(databaseUrl, context.quick ? shortForm : [], { ACCEPTANCE_DISTRIBUTED: 'yes' })
}
