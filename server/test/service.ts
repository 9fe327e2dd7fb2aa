import { readConfig } from '../src/config/config.ts'
import { defaultLimits, type Limits } from '../src/limits/passed-limits.ts'
import type { Event } from '../src/observability/events.ts'
import type { Connection } from '../src/postgres/connection.ts'
import { type Service, startService } from '../src/service.ts'
import { atEnd } from './at-end.ts'
import { connected, freshDatabase } from './database.ts'

export interface TestResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

export interface TestService extends Service {
  readonly events: Event[]
  request(
    account: { name: string; key: string },
    method: string,
    path: string,
    options?: { body?: string; headers?: Record<string, string> },
  ): Promise<TestResponse>
  /** Sends `body` as JSON. */
  post(
    account: { name: string; key: string },
    path: string,
    body: object,
    headers?: Record<string, string>,
  ): Promise<TestResponse>
}

const busyMachineMs = 300_000

/**
 * Timeouts and queues that no request reaches, however busy the machine is. With those of production, a process that gets no CPU for
 * some seconds responds with 503 or 504, as it should, and the test fails. A test of a timeout passes its own.
 */
export const patientLimits = {
  requestsWaitingMax: 10_000,
  requestsWaitingMsMax: busyMachineMs,
  connectMsMax: busyMachineMs,
  connectLagMsMax: busyMachineMs,
  pipelinedMsMax: busyMachineMs,
  pipelinedSilenceMsMax: busyMachineMs,
  unansweredChecksMax: busyMachineMs / defaultLimits.primaryCheckMs,
  readWaitMsMax: busyMachineMs,
  writeWaitMsMax: busyMachineMs,
  accountWriteWaitMsMax: busyMachineMs,
  writeLockMsMax: busyMachineMs,
  writeMsMax: 2 * busyMachineMs,
  batchWaitMsMax: busyMachineMs,
  batchLockMsMax: busyMachineMs,
  batchWriteMsMax: 2 * busyMachineMs,
  exportWaitMsMax: busyMachineMs,
  headersReceiveMsMax: busyMachineMs,
  requestReceiveMsMax: busyMachineMs,
  silentConnectionMsMax: busyMachineMs,
} satisfies Partial<Limits>

/** A service on a new database, and a connection to it as its owner. All are closed at the end of the file. */
export async function freshService(
  environment: Record<string, string> = {},
  limits: Partial<Limits> = {},
): Promise<{ readonly url: string; readonly client: Connection; readonly service: TestService }> {
  const url = await freshDatabase()
  const client = await connected(url)
  return { url, client, service: await startTestService(url, environment, limits) }
}

/**
 * Starts the service in this process on a free port, and closes it at the end of the file if the test has not. Requests name their
 * account by X-Forwarded-Host: fetch cannot set Host.
 */
export async function startTestService(
  databaseUrl: string,
  environment: Record<string, string> = {},
  limits: Partial<Limits> = {},
): Promise<TestService> {
  const events: Event[] = []
  const config = readConfig({
    QUARTERMASTER_TRUSTED_PROXIES: '127.0.0.1',
    QUARTERMASTER_READ_MS_MAX: String(busyMachineMs),
    ...environment,
  })
  const service = await startService(config, {
    databaseUrl,
    host: '127.0.0.1',
    port: 0,
    limits: { ...defaultLimits, ...patientLimits, ...limits },
    log: { emit: (event) => events.push(event), dropped: () => 0 },
  })
  const request: TestService['request'] = async (account, method, path, options = {}) => {
    const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
      method,
      headers: {
        'x-forwarded-host': `${account.name}.localhost`,
        authorization: `Bearer ${account.key}`,
        ...options.headers,
      },
      ...(options.body === undefined ? {} : { body: options.body }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
  let closed: Promise<void> | undefined
  const close = (delayMs?: number) => (closed ??= service.close(delayMs))
  const drain = (delayMs: number) => (closed ??= service.drain(delayMs))
  atEnd(() => close())
  return {
    ...service,
    close,
    drain,
    events,
    request,
    post: (account, path, body, headers = {}) =>
      request(account, 'POST', path, {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      }),
  }
}
