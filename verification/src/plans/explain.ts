import type pg from 'pg'
import type { Statement } from '../../../server/src/sql.ts'

/** The parts of EXPLAIN (ANALYZE, BUFFERS) that the checks use. */
export interface Explained {
  readonly buffers: number
  /** Sequential scans of the table, which read all accounts. */
  readonly sequential: number
  /** Index scans that were executed. */
  readonly byIndex: number
  /** Rows of the table that were read and removed by a filter. */
  readonly filteredOut: number
  /** Rows of the table that were read and returned. */
  readonly returned: number
}

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Loops': number
  readonly 'Actual Rows': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly Node[]
}

/** With a custom plan for these values. */
export async function explain(client: pg.Client, { text, values }: Statement, table: string) {
  return explained(client, text, values, table)
}

/** With the generic plan. */
export async function explainGeneric(client: pg.Client, { text, values }: Statement, table: string) {
  await client.query('set plan_cache_mode = force_generic_plan')
  await client.query(`prepare shown as ${text}`)
  try {
    const literals = values.map((value) => client.escapeLiteral(String(value)))
    return await explained(client, `execute shown(${literals.join()})`, [], table)
  } finally {
    await client.query('deallocate shown')
  }
}

async function explained(
  client: pg.Client,
  text: string,
  values: readonly unknown[],
  table: string,
): Promise<Explained> {
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `explain (analyze, buffers, timing off, format json) ${text}`,
    [...values],
  )
  const root = rows[0]?.['QUERY PLAN'][0].Plan
  if (root === undefined) throw new Error('EXPLAIN returned no plan')
  const scans = nodesOf(root).filter((node) => node['Relation Name'] === table)
  const run = scans.filter((node) => node['Actual Loops'] > 0)
  return {
    buffers: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
    sequential: scans.filter((node) => node['Node Type'] === 'Seq Scan').length,
    byIndex: run.filter((node) => node['Node Type'] !== 'Seq Scan').length,
    filteredOut: run.reduce((sum, node) => sum + removed(node) * node['Actual Loops'], 0),
    returned: run.reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0),
  }
}

function nodesOf(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

function removed(node: Node): number {
  return (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
}
