import { connect, type Socket } from 'node:net'
import type { Cluster } from '../cluster/cluster.ts'
import { port } from '../cluster/ports.ts'
import type { Fault } from './fault.ts'

/** More than the connections that PostgreSQL allows. */
const floodConnections = 200

/** Faults of the network: packets vanish without a reset, or are slow; too many connections. */
export const networkFaults: readonly Fault[] = [
  {
    // HAProxy and the servers still reach it.
    name: 'primary partitioned from the nodes',
    lasts: 'until-writes',
    begin({ primary, standby, other }) {
      primary.namespace.drop([standby.namespace.address, other.namespace.address])
      return () => primary.namespace.heal()
    },
  },
  {
    name: 'primary isolated',
    lasts: 'until-writes',
    begin({ primary }) {
      primary.namespace.drop()
      return () => primary.namespace.heal()
    },
  },
  {
    // Patroni sees a healthy cluster, so there is no failover.
    name: 'packets to the primary vanish',
    lasts: [6_000, 12_000],
    begin({ cluster, primary }) {
      primary.namespace.drop([cluster.balancer.address])
      return () => primary.namespace.heal()
    },
  },
  {
    name: 'packets to HAProxy vanish',
    lasts: [6_000, 12_000],
    begin({ cluster }) {
      cluster.balancer.drop(cluster.servers.map(({ namespace }) => namespace.address))
      return () => cluster.balancer.heal()
    },
  },
  {
    name: 'synchronous standby isolated',
    lasts: [20_000, 25_000],
    begin({ standby }) {
      standby.namespace.drop()
      return () => standby.namespace.heal()
    },
  },
  {
    name: 'slow network to a standby',
    lasts: [10_000, 15_000],
    begin({ standby }) {
      standby.namespace.limitRate(256)
      return () => standby.namespace.unlimitRate()
    },
  },
  {
    name: 'connection flood at PostgreSQL',
    lasts: [8_000, 12_000],
    begin: ({ cluster }) => flood(cluster.balancer.address, 5432),
  },
  {
    name: 'connection flood at a server',
    lasts: [8_000, 12_000],
    begin: ({ cluster, random }) => flood(random.pick(cluster.servers).namespace.address, port),
  },
]

/** Opens connections that send nothing, and keeps their number until the end. */
function flood(address: string, at: number): () => void {
  const sockets = new Set<Socket>()
  let isOver = false
  const open = () => {
    const socket = connect(at, address)
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => {
      sockets.delete(socket)
      if (!isOver) setTimeout(() => isOver || open(), 200)
    })
  }
  for (let n = 0; n < floodConnections; n++) open()
  return () => {
    isOver = true
    for (const socket of sockets) socket.destroy()
  }
}

/** Standbys receive nothing more, and the primary goes on: only with asynchronous replication. */
export function cutReplication({ nodes }: Cluster, primary: string): () => void {
  const from = nodes.filter(({ name }) => name === primary)
  const to = nodes.filter(({ name }) => name !== primary)
  for (const { namespace } of from)
    for (const standby of to)
      namespace.run(
        'iptables',
        '-w',
        '-A',
        'OUTPUT',
        '-p',
        'tcp',
        '--sport',
        '5432',
        '-d',
        standby.namespace.address,
        '-j',
        'DROP',
      )
  return () => {
    for (const { namespace } of from) namespace.heal()
  }
}
