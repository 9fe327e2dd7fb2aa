import { describe, expect, it } from 'vitest'
import { account, connected, insertProducts } from './database.ts'
import { eventually, waitingForLocks } from './eventually.ts'
import { sampleOf, scrape } from './exposition.ts'
import { freshService } from './service.ts'

/** A request that joins the running read of another request must not be reported as served from the cache. */

const products = '/api/v1/inventory/product'

const { url, client, service } = await freshService({ QUARTERMASTER_ADMIN_PORT: '0' })
/** Holds a lock that a read waits for. */
const holder = await connected(url)
const acme = await account(client, 'acme')
await insertProducts(client, acme, 1)

const lookupsDone = () => {
  const sent = service.events.filter(({ kind }) => kind === 'keys-verified')
  const ended = service.events.filter(
    (one) => one.kind === 'statement-ended' && one.operation === 'verify_key',
  )
  if (ended.length < sent.length) return 0
  return sent.reduce((sum, one) => sum + (one.kind === 'keys-verified' ? one.keys : 0), 0)
}

const responsesBySource = async () => {
  const { samples } = await scrape(service.adminPort)
  return ['read', 'joined', 'cached'].map((source) =>
    sampleOf(samples, 'quartermaster_reads_total', { source }),
  )
}

async function readTwiceConcurrently(path: string, name: string): Promise<(string | null)[]> {
  const send = (id: string) => service.request(acme, 'GET', path, { headers: { 'x-request-id': id } })
  await holder.query('begin; lock table product in access exclusive mode')
  const first = send(`${name}-first`)
  await eventually(async () => (await waitingForLocks(client)).length === 1)
  const lookups = lookupsDone()
  const second = send(`${name}-second`)
  await eventually(() => lookupsDone() > lookups)
  // A response to this later request shows that the second request has passed its key verification: one event loop.
  await service.request(acme, 'GET', '/manage/v1/keys')
  await holder.query('commit')
  const responses = await Promise.all([first, second])
  expect(responses.map(({ status }) => status)).toEqual([200, 200])
  expect(responses[0]?.body).toEqual(responses[1]?.body)
  return responses.map(({ headers }) => headers.get('server-timing'))
}

describe.each([
  ['list', `${products}?limit=2`],
  ['record', `${products}/1`],
])('a %s', (name, path) => {
  it('is reported as joined if it shares the running read of another request', async () => {
    const before = await responsesBySource()
    const [first, second] = await readTwiceConcurrently(path, name)
    expect(first).toMatch(/, read;dur=[\d.]+, source;desc=read, /)
    expect(second).toMatch(/, read;dur=[\d.]+, source;desc=joined, /)

    const sourceOf = (id: string) =>
      service.events.flatMap((one) =>
        one.kind === 'request-completed' && one.requestId === `${name}-${id}` ? [one.source] : [],
      )
    await eventually(() => sourceOf('first').length + sourceOf('second').length === 2)
    expect([sourceOf('first'), sourceOf('second')]).toEqual([['read'], ['joined']])
    const [read = 0, joined = 0, cached = 0] = before
    expect(await responsesBySource()).toEqual([read + 1, joined + 1, cached])

    const logged = async () => {
      const { rows } = await client.query<{ request_id: string; cached: boolean }>(
        `select request_id, cached from request where account_id = $1 and request_id like $2 order by request_id`,
        [acme.accountId, `${name}-%`],
      )
      return rows
    }
    await eventually(async () => (await logged()).length === 2)
    expect(await logged()).toEqual([
      { request_id: `${name}-first`, cached: false },
      { request_id: `${name}-second`, cached: false },
    ])
  })

  it('is reported as cached when it is requested again, and as unchanged with its ETag', async () => {
    const { headers } = await service.request(acme, 'GET', path)
    expect(headers.get('server-timing')).toMatch('source;desc=cached')
    const etag = headers.get('etag') ?? ''
    const again = await service.request(acme, 'GET', path, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
    expect(again.headers.get('server-timing')).toMatch('source;desc=unchanged')
  })
})
