import type pg from 'pg'
import { limits } from '../../../limits/limits.ts'
import { type Finding, ok, problem, unchecked, warning } from '../finding.ts'

/** What PostgreSQL says about replication. */
export interface Replication {
  /** `synchronous_commit` */
  readonly commit: string
  /** `synchronous_standby_names` */
  readonly synchronous: string
  readonly standbys: number
  /** `max_wal_senders` */
  readonly walSenders: number
  /** Whether Patroni is connected to the server. */
  readonly patroni: boolean
  /** The server's own address, which is not that of a balancer. Null with a Unix socket. */
  readonly address: string | null
}

/** What Patroni's REST interface says: `/config`, `/cluster` and `/patroni`. */
export interface PatroniState {
  readonly config: {
    readonly ttl?: number
    readonly loop_wait?: number
    readonly retry_timeout?: number
    readonly synchronous_mode?: boolean | string | null
    readonly failsafe_mode?: boolean | null
  }
  readonly cluster: { readonly members: readonly { readonly role: string }[]; readonly pause?: boolean }
  readonly version: string
}

/** The port of Patroni's REST interface if it is not configured. */
const restPort = 8008
/** pg_basebackup uses two when a standby is created or reinitialised. */
const walSendersSpare = 2
const membersMin = 3

/** What a cluster that fails over needs, so that no acknowledged write is lost. `client`: connected to the primary. */
export async function checkReplication(client: pg.Client): Promise<Finding[]> {
  // Every login sees the rows and application names of these views.
  const { rows } = await client.query<Replication>(
    `select current_setting('synchronous_commit') as commit, current_setting('synchronous_standby_names') as synchronous,
       (select count(*)::int from pg_stat_replication where application_name <> 'pg_basebackup') as standbys,
       current_setting('max_wal_senders')::int as "walSenders",
       exists (select from pg_stat_activity where application_name like 'Patroni%') as patroni, host(inet_server_addr()) as address`,
  )
  const [replication] = rows
  if (replication === undefined) return []
  const findings = replicationFindings(replication)
  if (!replication.patroni) return findings
  const base = restAddress(replication.address)
  const state = await readPatroni(base)
  return [
    ...findings,
    ...(typeof state === 'string'
      ? [
          unchecked(
            'replication',
            `Patroni's REST interface at ${base} cannot be read (${state}): its settings were not checked. See them with patronictl show-config.`,
          ),
        ]
      : patroniFindings(state)),
  ]
}

export function replicationFindings(replication: Replication): Finding[] {
  const { commit, synchronous, standbys, walSenders, patroni } = replication
  const findings: Finding[] = []
  if (commit === 'off' || (commit === 'local' && synchronous !== ''))
    findings.push(
      problem(
        'replication',
        `synchronous_commit is ${commit}: ${commit === 'off' ? 'a crash' : 'a failover'} can lose acknowledged writes.`,
        patroni
          ? 'patronictl edit-config --pg synchronous_commit=on'
          : 'alter system set synchronous_commit = on; select pg_reload_conf();',
      ),
    )
  // Without standbys and Patroni, it is a single server.
  if (standbys === 0 && !patroni) return findings
  if (standbys + walSendersSpare > walSenders)
    findings.push(
      problem(
        'replication',
        `max_wal_senders is ${walSenders}: with ${standbys} connected, a standby cannot be created or reinitialised, which takes ${walSendersSpare} more.`,
        patroni
          ? `patronictl edit-config --pg max_wal_senders=${standbys + 2 * walSendersSpare}`
          : `alter system set max_wal_senders = ${standbys + 2 * walSendersSpare}; then restart PostgreSQL.`,
      ),
    )
  // With Patroni, its setting decides.
  if (!patroni)
    findings.push(
      synchronous === ''
        ? warning(
            'replication',
            `Replication to ${counted(standbys, 'standby', 'standbys')} is asynchronous: a failover loses the last acknowledged writes.`,
            `to avoid that, set synchronous_standby_names, such as alter system set synchronous_standby_names = 'ANY 1 (*)'; select pg_reload_conf();`,
          )
        : ok(
            'replication',
            `Writes are acknowledged when a standby has them (synchronous_standby_names is ${synchronous}).`,
          ),
    )
  return findings
}

export function patroniFindings({ config, cluster, version }: PatroniState): Finding[] {
  const { ttl = 30, loop_wait: loopWait = 10, retry_timeout: retryTimeout = 10 } = config
  const { members, pause = false } = cluster
  const isSynchronous = config.synchronous_mode === true || config.synchronous_mode === 'quorum'
  const faults: [isWrong: boolean, message: string, repair: string][] = [
    [
      Number.parseInt(version, 10) < 4,
      `Patroni is ${version}, which can lose acknowledged writes; 4.0 or later is required.`,
      'Upgrade Patroni on all nodes, after patronictl pause.',
    ],
    [
      !isSynchronous,
      "Patroni's synchronous_mode is off: every failover can lose the last acknowledged writes.",
      'patronictl edit-config --set synchronous_mode=true',
    ],
    [
      isSynchronous && !members.some(({ role }) => /^(sync|quorum)_standby$/.test(role)),
      'No standby is synchronous: if the primary is lost, no other node may be promoted.',
      'patronictl list, and start the standbys that are not streaming.',
    ],
    [
      config.failsafe_mode !== true,
      `Patroni's failsafe_mode is off: without etcd, the database is read-only after ${ttl} seconds.`,
      'patronictl edit-config --set failsafe_mode=true',
    ],
    [
      loopWait + 2 * retryTimeout > ttl,
      `ttl of Patroni is ${ttl}, less than loop_wait + 2 × retry_timeout = ${loopWait + 2 * retryTimeout}: a slow etcd causes a failover.`,
      `patronictl edit-config --set ttl=${loopWait + 2 * retryTimeout}`,
    ],
    [
      members.length < membersMin,
      `Patroni has ${counted(members.length, 'node', 'nodes')}: after the loss of one, no standby is left that could be synchronous.`,
      `Start the nodes that are down, or add some, so that there are ${membersMin}.`,
    ],
    [pause, 'Patroni is paused: there is no failover.', 'patronictl resume'],
  ]
  const problems = faults
    .filter(([isWrong]) => isWrong)
    .map(([, message, repair]) => problem('replication', message, repair))
  if (problems.length > 0) return problems
  return [
    ok(
      'replication',
      `Patroni ${version} with ${members.length} nodes replicates synchronously. If the primary is lost, writes work again after about ${ttl} seconds.`,
    ),
  ]
}

function restAddress(address: string | null): string {
  const host = address?.includes(':') ? `[${address}]` : (address ?? '127.0.0.1')
  return `http://${host}:${restPort}`
}

/** The state of the cluster, or why it cannot be read. */
async function readPatroni(base: string): Promise<PatroniState | string> {
  try {
    const [config, cluster, node] = await Promise.all([
      get<PatroniState['config']>(`${base}/config`),
      get<PatroniState['cluster']>(`${base}/cluster`),
      get<{ patroni: { version: string } }>(`${base}/patroni`),
    ])
    return { config, cluster, version: node.patroni.version }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return error.cause instanceof Error ? error.cause.message : error.message
  }
}

async function get<T>(url: string): Promise<T> {
  const response = await fetch(url, { signal: AbortSignal.timeout(limits.patroniMsMax) })
  if (!response.ok) throw new Error(`${new URL(url).pathname}: status ${response.status}`)
  const body: T = JSON.parse(await response.text())
  return body
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}
