import type pg from 'pg'
import type { Statement } from '../../../server/src/sql.ts'

/** What EXPLAIN (ANALYZE, BUFFERS) says of a statement, as far as it matters here. */
export interface Explained {
  readonly buffers: number
  /** Scans of the table that read it from end to end, all accounts. */
  readonly sequential: number
  /** Scans by an index that were run. */
  readonly byIndex: number
  /** Rows of the table that were read and thrown away. */
  readonly thrownAway: number
  /** Rows of the table that were read and used. */
  readonly used: number
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

/** With the plan for these values. */
export async function explain(client: pg.Client, { text, values }: Statement, table: string) {
  return explained(client, text, values, table)
}

/** With the one plan for all values, which a prepared statement comes to. */
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
  if (root === undefined) throw new Error('EXPLAIN said nothing')
  const scans = nodesOf(root).filter((node) => node['Relation Name'] === table)
  const run = scans.filter((node) => node['Actual Loops'] > 0)
  return {
    buffers: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
    sequential: scans.filter((node) => node['Node Type'] === 'Seq Scan').length,
    byIndex: run.filter((node) => node['Node Type'] !== 'Seq Scan').length,
    thrownAway: run.reduce((sum, node) => sum + removed(node) * node['Actual Loops'], 0),
    used: run.reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0),
  }
}

function nodesOf(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

function removed(node: Node): number {
  return (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
}
