import { spawn } from 'node:child_process'
import { withClient } from '../../../../server/src/postgres/client.ts'
import { setClock } from '../cluster/clock.ts'
import { passwords } from '../cluster/patroni.ts'
import type { Fault } from './fault.ts'

/** Microseconds that every write to the disk takes longer. */
const slowDiskMicroseconds = 150_000

export const diskFull: Fault = {
  name: 'disk of the primary full',
  lasts: [15_000, 20_000],
  begin({ primary }) {
    primary.fillDisk()
    return () => primary.freeDisk()
  },
}

/** Faults of the disk, the clock and replay. */
export const resourceFaults: readonly Fault[] = [
  diskFull,
  {
    name: 'slow disk of the primary',
    lasts: [10_000, 15_000],
    begin({ primary }) {
      const calls = 'fsync,fdatasync,pwrite64'
      const tracer = spawn(
        'strace',
        [
          '-f',
          '-qq',
          '-o/dev/null',
          `--trace=${calls}`,
          `--inject=fsync,fdatasync:delay_exit=${slowDiskMicroseconds}`,
          ...primary.postgresPids.map((pid) => `-p${pid}`),
        ],
        { stdio: 'ignore' },
      )
      return async () => {
        const ended = new Promise((resolve) => tracer.once('exit', resolve))
        tracer.kill('SIGINT')
        await ended
      }
    },
  },
  {
    name: 'clock of the primary steps',
    lasts: [10_000, 15_000],
    begin({ primary, random }) {
      primary.setClock(random.pick([-86_400, -3_600, -30, 30, 3_600, 86_400]))
      return () => primary.setClock(0)
    },
  },
  {
    name: 'clock of a standby steps',
    lasts: [10_000, 15_000],
    begin({ standby, random }) {
      standby.setClock(random.pick([-86_400, -3_600, 3_600, 86_400]))
      return () => standby.setClock(0)
    },
  },
  {
    name: 'clock of a server steps',
    lasts: [10_000, 15_000],
    begin({ cluster, random }) {
      const { clock } = random.pick(cluster.servers)
      setClock(clock, random.pick([-86_400, -3_600, 3_600, 86_400]))
      return () => setClock(clock, 0)
    },
  },
  {
    name: 'standby lags',
    lasts: [10_000, 20_000],
    async begin({ standby }) {
      const url = standby.url('postgres', passwords.superuser, 'postgres')
      await withClient(url, (client) => client.query('select pg_wal_replay_pause()'))
      return async () => {
        await withClient(url, (client) => client.query('select pg_wal_replay_resume()'))
      }
    },
  },
]
