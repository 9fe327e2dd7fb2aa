import { setTimeout as sleep } from 'node:timers/promises'
import { type Deletion, dueStatement, recentStatement } from '../../accounts/lifecycle/deletion.ts'
import { recheckDeleted, runDeletion } from '../../accounts/lifecycle/run-deletion.ts'
import { runOn } from '../../accounts/lifecycle/run-on.ts'
import { expireCalls } from '../../accounts/operators/operator-audit.ts'
import type { Config } from '../../config/config.ts'
import { buildOperatorServer } from '../../http/operator/operator-server.ts'
import { closeServer } from '../../http/shutdown.ts'
import { limits } from '../../limits/limits.ts'
import { defaultLimits } from '../../limits/passed-limits.ts'
import { parseNetworks } from '../../networks.ts'
import type { EmitEvent } from '../../observability/events.ts'
import { withClient } from '../../postgres/client.ts'
import type { Connection } from '../../postgres/connection.ts'
import { OwnerConnections } from '../../postgres/owner-connections.ts'

export interface OperatorService {
  readonly port: number
  close(): Promise<void>
}

export interface OperatorServiceOptions {
  readonly ownerUrl: string
  readonly host: string
  readonly port: number
  readonly emit: EmitEvent
  /** Between two searches for deletions that are due. Default: `operatorSweepMs`. */
  readonly sweepMs?: number
}

/** Serves the operator API, and runs the deletions that are due. */
export async function startOperatorService(
  config: Config,
  { ownerUrl, host, port, emit, sweepMs = limits.operatorSweepMs }: OperatorServiceOptions,
): Promise<OperatorService> {
  const [stop, shutdown] = [new AbortController(), new AbortController()]
  const connections = new OwnerConnections(ownerUrl)
  const trustedProxies = parseNetworks(config.QUARTERMASTER_TRUSTED_PROXIES)
  const app = buildOperatorServer({ connections, trustedProxies, emit, shutdown: shutdown.signal })
  await app.listen({ host, port })
  const address = app.server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  emit({ kind: 'listening', host, port: bound, adminPort: undefined })
  const sweeping = sweepUntil(stop.signal, sweepMs, ownerUrl, emit)
  return {
    port: bound,
    close: async () => {
      stop.abort()
      await Promise.all([closeServer(app, shutdown, defaultLimits), sweeping])
      await connections.close()
    },
  }
}

/** An error ends a sweep; the next one continues the deletion. */
async function sweepUntil(stop: AbortSignal, sweepMs: number, url: string, emit: EmitEvent): Promise<void> {
  while (!stop.aborted) {
    try {
      await withClient(url, (connection) => sweep(connection, stop))
    } catch (error) {
      if (!stop.aborted) emit({ kind: 'deletion-failed', error })
    }
    await sleep(sweepMs, undefined, { signal: stop }).catch(() => {})
  }
}

async function sweep(connection: Connection, stop: AbortSignal): Promise<void> {
  const run = runOn(connection)
  for (const recent of await run<Deletion>(recentStatement())) await recheckDeleted(connection, recent)
  for (const { name } of await run<Deletion>(dueStatement())) {
    if (stop.aborted) return
    await runDeletion(connection, name, { stop })
  }
  await run(expireCalls())
}
