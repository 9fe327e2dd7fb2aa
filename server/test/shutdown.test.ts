import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { expect, it } from 'vitest'
import { account, connected, insertProducts } from './database.ts'
import { eventually, waitingForLocks } from './eventually.ts'
import { sampleOf, scrape } from './exposition.ts'
import { freshService } from './service.ts'

/** How a service that shuts down reports the requests that it does not finish. */

const products = '/api/v1/inventory/product'
const records = 60_000

const { url, client, service } = await freshService(
  { QUARTERMASTER_ADMIN_PORT: '0', QUARTERMASTER_READ_MS_MAX: '60000' },
  { shutdownMsMax: 3_000 },
)
/** Holds a lock that a read waits for. */
const holder = await connected(url)
const acme = await account(client, 'acme')
await insertProducts(client, acme, records, 'x'.repeat(400))

function open(path: string, requestId: string, accept = 'application/json'): ClientRequest {
  const clientRequest = request({
    port: service.port,
    path,
    agent: false,
    headers: {
      host: 'acme.localhost',
      authorization: `Bearer ${acme.key}`,
      accept,
      'x-request-id': requestId,
    },
  })
  clientRequest.on('error', () => {})
  clientRequest.end()
  return clientRequest
}

/** Status and code of the responses to one request, as the service reports them. */
const reported = (id: string) =>
  service.events.flatMap((event) =>
    event.kind === 'request-completed' && event.requestId === id ? [[event.status, event.context?.code]] : [],
  )

it('reports requests that the shutdown aborts as shutting_down, not as client_disconnected', async () => {
  const { samples } = await scrape(service.adminPort)

  // An export whose client has stopped reading, and two reads that wait for a lock, each on its own connection.
  const exporting = open(products, 'export', 'application/x-ndjson')
  const response = await new Promise<IncomingMessage>((resolve) => exporting.once('response', resolve))
  response.pause()
  const reset = new Promise<NodeJS.ErrnoException>((resolve) => response.once('error', resolve))
  await holder.query('begin; lock table company in access exclusive mode')
  const list = open('/api/v1/resources/company?filter=name*y', 'list')
  const left = open('/api/v1/resources/company?filter=name*x', 'left')
  await eventually(async () => (await waitingForLocks(client)).length === 2)

  const closed = service.close()
  left.destroy()
  await eventually(() => reported('left').length === 1)
  const listEnded = new Promise((resolve) => list.once('close', resolve))
  await listEnded
  await holder.query('rollback')
  await closed
  response.resume()
  expect((await reset).code).toBe('ECONNRESET')

  expect(reported('left')).toEqual([[499, 'client_disconnected']])
  expect(reported('export')).toEqual([[503, 'shutting_down']])
  expect(reported('list')).toEqual([[503, 'shutting_down']])
  expect(sampleOf(samples, 'quartermaster_rejections_total', { code: 'shutting_down' })).toBe(0)
  expect(service.events.filter(({ kind }) => kind === 'export-truncated')).toMatchObject([
    { requestId: 'export', code: 'shutting_down' },
  ])

  const { rows } = await client.query(
    'select request_id, status, error_code, error_detail from request where account_id = $1 order by request_id',
    [acme.accountId],
  )
  expect(rows).toEqual([
    {
      request_id: 'export',
      status: 503,
      error_code: 'shutting_down',
      error_detail: 'The service shut down before the export was complete. Retry it.',
    },
    { request_id: 'left', status: 499, error_code: 'client_disconnected', error_detail: expect.any(String) },
    {
      request_id: 'list',
      status: 503,
      error_code: 'shutting_down',
      error_detail: 'The service shut down before the response was sent.',
    },
  ])
})
