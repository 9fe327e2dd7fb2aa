import { closeSync, openSync, readSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../../../../server/src/postgres/client.ts'
import type { Check, Outcome } from '../../check.ts'
import { grouped } from '../../progress.ts'
import { type ServerProcess, Service } from '../../service.ts'
import { waitUntil } from '../../wait-until.ts'
import { SteadyLoad } from './steady-load.ts'

export const restartsAccount = 'restarts'
const requestsPerSecond = 200
const workers = 2
export const restartMsMax = 120_000

export interface Target {
  readonly service: Service
  readonly server: ServerProcess
  readonly log: LogReader
  readonly load: SteadyLoad
  readonly key: string
}

/** Rolling restarts of `serve --processes 2` by SIGHUP, under load: no request fails. */
export const restartSighup: Check = {
  name: 'restart_sighup',
  bound: '0 failed of ≥ 50,000 in ≥ 10 restarts',
  run: (context) =>
    underLoad(async (target) => {
      const { server, log, load } = target
      const requests = context.size(50_000, 3_000)
      const restarts = context.size(10, 2)
      let restarted = 0
      while (restarted < restarts || load.generator.sent < requests) {
        server.signal('SIGHUP')
        restarted++
        await waitUntil(() => log.lines('restarted').length === restarted, restartMsMax, 'no rolling restart')
        context.log(
          `restart ${restarted}: ${grouped(load.generator.sent)} sent, ${load.generator.failed} failed`,
        )
      }
      await load.end()
      const lost = await lostPartners(target)
      return outcomeOf(target, {
        value: `${load.generator.failed} failed of ${grouped(load.generator.sent)}, ${restarted} restarts`,
        ok:
          load.generator.failed === 0 &&
          lost.length === 0 &&
          load.generator.sent >= requests &&
          restarted >= restarts,
        faults: lost,
      })
    }),
}

/**
 * `kill -9` of a worker breaks its connections, so requests in flight on them fail. No other request may, and the worker
 * is replaced.
 */
export const workerKilled: Check = {
  name: 'worker_killed',
  bound: 'at most the requests in flight; none acknowledged is lost',
  run: (context) =>
    underLoad(async (target) => {
      const { log, load } = target
      const kills = context.size(10, 2)
      const each: number[] = []
      for (let n = 0; n < kills; n++) {
        await sleep(context.size(2_000, 500))
        const before = load.generator.failed
        process.kill(pidOf(log, 1 + (n % workers)), 'SIGKILL')
        const replaced = () => log.lines('listening').length === workers + 1 + n + 1
        await waitUntil(replaced, restartMsMax, 'no other worker')
        await sleep(500)
        each.push(load.generator.failed - before)
      }
      await load.end()
      const lost = await lostPartners(target)
      return outcomeOf(target, {
        value: `${load.generator.failed} failed of ${grouped(load.generator.sent)}, ${kills} kills, ${lost.length} lost`,
        // The load has 20 clients with one request in flight each, half of them on the worker that is killed.
        ok: lost.length === 0 && Math.max(...each) <= 20 && log.lines('worker-exited').length === kills,
        faults: [`failed requests of each kill: ${each.join(' ')}`, ...lost],
      })
    }),
}

/** `environment`: further settings of the processes, from the folder of the service. */
export async function underLoad(
  run: (target: Target) => Promise<Outcome>,
  environment: (folder: string) => Record<string, string> = () => ({}),
): Promise<Outcome> {
  const service = await Service.start()
  try {
    const key = await service.account(restartsAccount)
    const server = await service.serve({
      QUARTERMASTER_PROCESSES: String(workers),
      QUARTERMASTER_LOG_LEVEL: 'info',
      ...environment(service.folder),
    })
    const log = new LogReader(server)
    await waitUntil(
      () => log.lines('listening').length === workers + 1,
      restartMsMax,
      'not all workers started',
    )
    const load = new SteadyLoad({ port: server.port, account: restartsAccount, key, requestsPerSecond })
    try {
      return await run({ service, server, log, load, key })
    } finally {
      await load.end()
      log.close()
    }
  } finally {
    await service.stop()
  }
}

export function outcomeOf(
  { load, log }: Target,
  { value, ok, faults }: { value: string; ok: boolean; faults: readonly string[] },
): Outcome {
  const restarts = log.lines('restart-failed').map((line) => JSON.stringify(line))
  const created = `${grouped(load.created.size)} partners created`
  return {
    value,
    samples: Math.min(load.generator.sent, load.created.size),
    ok,
    note: [created, ...faults.slice(0, 10), ...load.generator.failures, ...restarts].join('\n'),
  }
}

/** Partners that were acknowledged but are not stored under their id. */
async function lostPartners({ service, load }: Target): Promise<string[]> {
  const { rows } = await withClient(service.postgres.url, (client) =>
    client.query<{ id: string; name: string }>('select id, name from partner'),
  )
  const stored = new Map(rows.map(({ id, name }) => [name, Number(id)]))
  return [...load.created]
    .filter(([name, id]) => stored.get(name) !== id)
    .map(([name, id]) => `${name} (${id}) was acknowledged and is not stored`)
}

interface LogLine {
  readonly msg: string
  readonly worker?: number
  readonly pid?: number
}

/** Reads what was appended to the log since the last call, and keeps all lines except those of requests. */
class LogReader {
  readonly #file: number
  readonly #chunk = Buffer.alloc(1024 * 1024)
  #rest = ''
  readonly #lines: LogLine[] = []

  constructor({ log }: ServerProcess) {
    this.#file = openSync(log, 'r')
  }

  lines(kind: string): LogLine[] {
    for (let length = 1; length > 0; ) {
      length = readSync(this.#file, this.#chunk)
      const lines = (this.#rest + this.#chunk.toString('utf8', 0, length)).split('\n')
      this.#rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line.startsWith('{') && !line.endsWith('"msg":"request-completed"}'))
          this.#lines.push(JSON.parse(line))
      }
    }
    return this.#lines.filter(({ msg }) => msg === kind)
  }

  close(): void {
    closeSync(this.#file)
  }
}

function pidOf(log: LogReader, worker: number): number {
  const pid = log.lines('listening').findLast((line) => line.worker === worker)?.pid
  if (pid === undefined) throw new Error(`worker ${worker} has not started`)
  return pid
}
