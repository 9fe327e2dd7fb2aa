import { createServer } from 'node:http'
import { Connector, declareFields, Lease, metricsOf, recordsOf, StateFile, Stop } from '@quartermaster/sync'
import { requireValid } from './check.ts'
import type { Config } from './config.ts'
import { type Credentials, connect, guard, mappingFor } from './connect.ts'
import { keyField } from './default-mapping.ts'
import { givenFields, LoadBirths } from './load-births.ts'
import { OdooSource } from './odoo-source.ts'
import { agreedField, declarationsFor, updatedFields, WriteUpdates } from './write-updates.ts'

export interface RunArguments {
  readonly statePath: string
  readonly once: boolean
  readonly deletesAccepted: number
  readonly acceptDatabase: boolean
  /** `127.0.0.1:9464`: where the metrics are. */
  readonly listen: string | undefined
  readonly signal: AbortSignal
  readonly log: (line: string) => void
}

/** Runs until the signal. Throws a Stop if a person has to decide. */
export async function run(config: Config, credentials: Credentials, options: RunArguments): Promise<void> {
  const { statePath, listen, signal, log } = options
  const lease = await Lease.take(`${statePath}.lock`, signal, (holder) =>
    log(`waiting for the connector with process id ${holder}, which uses ${statePath}`),
  )
  try {
    const connected = await connect(config, credentials)
    const { api, qm, context, mappings } = connected
    requireValid(config, mappings)
    const declared = await declareFields(qm, declarationsFor(config, mappings))
    if (declared.length > 0) log(`declared ${declared.join(', ')}`)
    const partner = mappingFor(mappings, 'partner')
    const connector = new Connector(
      {
        clock: api,
        keyField,
        sources: mappings.map((mapping) => ({
          source: new OdooSource(api, mapping, context),
          fields: mapping.fields,
        })),
        recordsOf: (resource) => recordsOf(qm, resource),
        births:
          config.back?.create !== true || partner === undefined
            ? undefined
            : {
                target: new LoadBirths(api, partner, context),
                fields: [...givenFields(partner).map(({ name }) => name), 'create_date'],
                filter: config.back.filter,
              },
        updates:
          partner === undefined || (config.back?.update.length ?? 0) === 0
            ? undefined
            : {
                target: new WriteUpdates(api, partner, context),
                fields: updatedFields(config, partner).fields,
                agreedField,
              },
        guard: (state) => guard(connected, config, state, log),
        calls: () => api.calls,
        polling: config.polling,
        log,
      },
      new StateFile(statePath),
      options,
    )
    const server =
      listen === undefined ? undefined : await metricsServer(listen, () => metricsOf(connector.status))
    try {
      await connector.run()
    } finally {
      server?.close()
    }
  } finally {
    lease.release()
  }
}

async function metricsServer(listen: string, metrics: () => string) {
  const server = createServer((request, response) => {
    const isFound = request.url === '/metrics'
    response.writeHead(isFound ? 200 : 404, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
    response.end(isFound ? metrics() : 'The metrics are at /metrics.\n')
  })
  const [, host, port] = /^(.+):(\d+)$/.exec(listen) ?? []
  if (host === undefined)
    throw new Stop(
      'mapping_invalid',
      `${listen} is not an address and a port.`,
      'Pass --listen 127.0.0.1:9464.',
    )
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(Number(port), host, resolve)
  })
  return server
}
