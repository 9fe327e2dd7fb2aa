import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterNode } from '../cluster/node.ts'
import type { Fault } from './fault.ts'

/** Faults of processes: killed, paused, or stopped for a planned reason. */

/** Patroni and PostgreSQL of the primary; its member of etcd stays. */
export const primaryKilled: Fault = {
  name: 'primary killed',
  lasts: 'until-writes',
  async begin({ primary }) {
    await primary.killDatabase()
    return () => primary.start()
  },
}

export const switchover: Fault = {
  name: 'switchover',
  lasts: 'until-writes',
  async begin({ cluster, primary, standby }) {
    await cluster.switchover(primary, standby)
    return () => {}
  },
}

/** Pauses processes of the primary, and lets them continue. */
const paused = (signal: (node: ClusterNode, name: 'SIGSTOP' | 'SIGCONT') => void): Fault['begin'] => {
  return ({ primary }) => {
    signal(primary, 'SIGSTOP')
    return () => signal(primary, 'SIGCONT')
  }
}

export const processFaults: readonly Fault[] = [
  primaryKilled,
  switchover,
  {
    name: 'machine of the primary lost',
    lasts: 'until-writes',
    async begin({ primary }) {
      await primary.killMachine()
      return () => primary.start()
    },
  },
  {
    // Patroni starts it again, or fails over.
    name: 'postmaster killed',
    lasts: 'until-writes',
    async begin({ primary }) {
      const { postmaster } = primary
      if (postmaster !== undefined) process.kill(postmaster, 'SIGKILL')
      return () => {}
    },
  },
  {
    name: 'Patroni killed',
    lasts: [28_000, 32_000],
    async begin({ primary }) {
      await primary.patroni.end()
      return () => primary.start()
    },
  },
  {
    name: 'synchronous standby killed',
    lasts: [10_000, 15_000],
    async begin({ standby }) {
      await standby.killDatabase()
      return () => standby.start()
    },
  },
  {
    name: 'both standbys killed',
    lasts: [15_000, 20_000],
    async begin({ standby, other }) {
      await Promise.all([standby, other].map((node) => node.killDatabase()))
      return () => {
        for (const node of [standby, other]) node.start()
      }
    },
  },
  {
    name: 'primary paused',
    lasts: [28_000, 32_000],
    begin: paused((node, signal) => {
      node.patroni.signal(signal)
      node.signalPostgres(signal)
    }),
  },
  {
    name: 'PostgreSQL paused',
    lasts: [15_000, 32_000],
    begin: paused((node, signal) => node.signalPostgres(signal)),
  },
  {
    name: 'both standbys paused',
    lasts: [10_000, 15_000],
    begin({ standby, other }) {
      for (const node of [standby, other]) node.signalPostgres('SIGSTOP')
      return () => {
        for (const node of [standby, other]) node.signalPostgres('SIGCONT')
      }
    },
  },
  {
    name: 'server killed',
    lasts: [1_000, 3_000],
    async begin({ cluster, random }) {
      const { program } = random.pick(cluster.servers)
      await program.end()
      return () => program.start()
    },
  },
  {
    name: 'HAProxy killed',
    lasts: [2_000, 5_000],
    async begin({ cluster }) {
      await cluster.haproxy.end()
      return () => cluster.haproxy.start()
    },
  },
  {
    name: 'Redis killed',
    lasts: [3_000, 6_000],
    async begin({ cluster }) {
      await cluster.redis.end()
      return () => cluster.redis.start()
    },
  },
  {
    name: 'one member of etcd killed',
    lasts: [8_000, 12_000],
    async begin({ cluster, random }) {
      const { etcd } = random.pick(cluster.nodes)
      await etcd.end()
      return () => etcd.start()
    },
  },
  {
    // Longer than the ttl: with failsafe_mode the primary goes on.
    name: 'etcd lost',
    lasts: [30_000, 30_000],
    async begin({ cluster }) {
      for (const { etcd } of cluster.nodes) await etcd.end()
      return async () => {
        for (const { etcd } of cluster.nodes) etcd.start()
        await sleep(1_000)
      }
    },
  },
]
