import { setTimeout as sleep } from 'node:timers/promises'
import { type ResourceName, resources } from '../../../server/src/catalog/resources.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Connection } from '../../../server/src/postgres/connection.ts'
import { parseListRequest } from '../../../server/src/query/list-request.ts'
import { planList } from '../../../server/src/query/plan.ts'
import type { ListHints } from '../../../server/src/query/sql/access-path.ts'
import { listStatement } from '../../../server/src/query/sql/list-statement.ts'
import type { Statement } from '../../../server/src/sql.ts'
import type { Benchmark } from '../benchmark.ts'
import { short } from '../numbers.ts'
import { pgbenchLoad, type Script } from '../ratios/pgbench.ts'
import { largeFixture } from './fixture.ts'

/** PostgreSQL 15 keeps this number of relation locks of a process apart from the lock table that all processes share. */
const locksMax = 16
const clients = 64
const sampleMs = 10

interface Form {
  readonly name: string
  readonly resource: ResourceName
  readonly query: string
  readonly hints: ListHints
  /** Not run by many clients: it may count millions of matches. */
  readonly mayCount?: true
}

const start = { id: '0', rank: 0 }
const resourceNames: readonly ResourceName[] = ['product', 'partner']
const known: ListHints = { total: 1_000_000 }
const lists: readonly Omit<Form, 'resource'>[] = [
  { name: 'page', query: '', hints: {} },
  { name: 'filter', query: '&filter=active=true', hints: known },
  { name: 'few matches', query: '&filter=name*0123abcd', hints: { total: 10 } },
  { name: 'sorted', query: '&sort=-write_date', hints: known },
  { name: 'first count', query: '&filter=active=true', hints: { isLargeAccount: true }, mayCount: true },
  {
    name: 'carried',
    query: '&filter=active=true',
    hints: { carry: { lineage: '1', version: '1', start, safeStart: start } },
    mayCount: true,
  },
]
const forms: readonly Form[] = resourceNames.flatMap((resource) =>
  lists.map((list) => ({ ...list, resource })),
)

/** The relations that a list locks in its transaction, and whether 64 lists at once wait for the lock table. */
export const relationLocks: Benchmark = {
  name: 'relation_locks',
  bound: `≤ ${locksMax}, 0 waits of ${clients} clients`,
  async run(context) {
    const { fixture } = await largeFixture(context)
    const seconds = context.size(10, 3)
    const rows: string[] = []
    const counts: number[] = []
    let waits = 0
    for (const form of forms) {
      const statement = statementOf(fixture.large.id, form)
      const locks = await withClient(fixture.url, (client) => locksOf(client, statement))
      counts.push(locks)
      const label = `${form.resource}, ${form.name}: ${locks} locks`
      if (form.mayCount === true) {
        rows.push(label)
      } else {
        const { rate, samples, waiting } = await loaded(fixture.url, statement, seconds)
        waits += waiting
        rows.push(
          `${label}; ${clients} clients ${short(rate)} lists/s, ${waiting} waits in ${samples} samples`,
        )
      }
      context.log(rows.at(-1) ?? '')
    }
    const most = Math.max(...counts)
    return {
      value: `${most}, ${waits} waits`,
      samples: forms.length,
      ok: most <= locksMax && waits === 0,
      note: rows.join('\n'),
      series: [],
    }
  },
}

function statementOf(accountId: string, { resource, query, hints }: Form): Statement {
  // Without timestamps: pgbench would take the colons of their format for variables.
  const request = parseListRequest(`fields=id,name,active${query}`, 'url')
  return listStatement({ accountId }, planList(resources[resource], request), 1, hints)
}

function settingsOf({ execution }: Statement): readonly string[] {
  const plans = execution === undefined ? [] : ['plan_cache_mode=force_generic_plan']
  return ['enable_seqscan=off', 'max_parallel_workers_per_gather=0', 'jit=off', ...plans]
}

async function locksOf(client: Connection, statement: Statement): Promise<number> {
  for (const setting of settingsOf(statement)) await client.query(`set ${setting}`)
  let locks = 0
  // A statement is prepared at its third use, and planned then, which locks every index of its tables.
  for (let execution = 0; execution < 5; execution++) {
    await client.query('begin')
    await client.run(statement)
    const { rows } = await client.query<{ n: number }>(
      `select count(*)::int as n from pg_locks
       where pid = pg_backend_pid() and locktype = 'relation' and relation <> 'pg_locks'::regclass`,
    )
    await client.query('commit')
    locks = rows[0]?.n ?? 0
  }
  return locks
}

interface Loaded {
  readonly rate: number
  readonly samples: number
  /** Processes that waited for the lock table when they were looked at. */
  readonly waiting: number
}

async function loaded(url: string, statement: Statement, seconds: number): Promise<Loaded> {
  const ended = new AbortController()
  const sampling = withClient(url, async (client) => {
    let [samples, waiting] = [0, 0]
    while (!ended.signal.aborted) {
      const { rows } = await client.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where wait_event = 'LockManager'`,
      )
      samples += 1
      waiting += rows[0]?.n ?? 0
      await sleep(sampleMs)
    }
    return { samples, waiting }
  })
  try {
    const { requests, seconds: took } = await pgbenchLoad(url, scriptOf(statement), clients, seconds, {
      mode: statement.execution === undefined ? 'extended' : 'prepared',
      settings: settingsOf(statement),
    })
    ended.abort()
    return { rate: requests / took, ...(await sampling) }
  } finally {
    ended.abort()
    await sampling
  }
}

function scriptOf({ text, values }: Statement): Script {
  const variables = values.map((value, at) => [`p${at + 1}`, String(value)] as const)
  return { text: `${text.replaceAll(/\$(\d+)/g, ':p$1')};\n`, variables: Object.fromEntries(variables) }
}
