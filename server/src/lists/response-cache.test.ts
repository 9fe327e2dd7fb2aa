import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { limits } from '../limits/limits.ts'
import { type ReadResponse, responseOf } from './response.ts'
import { type Caller, ResponseCache } from './response-cache.ts'

/** A client that may disconnect. */
class Client extends EventEmitter implements Caller {
  destroyed = false
  disconnect() {
    this.destroyed = true
    this.emit('close')
  }
}
const newClient = () => new Client()

const verified = (accountId: string, version: string, epoch = '1') => ({
  access: {
    accountId,
    keyId: 'k',
    scopes: new Set<never>(),
    requestsPerMinute: 0,
    keyRequestsPerMinute: 0,
    recordsMax: 0,
  },
  tally: { epoch, version, xid: '500', total: 1, schema: 0 },
  schema: 0,
})
const response = (version: string, text: string, epoch = '1'): ReadResponse =>
  responseOf({ epoch, version, xid: '500' }, `"${version}"`, text, undefined, 1)

it('reuses a response only for the same account, request, version and epoch', async () => {
  const responseCache = new ResponseCache()
  let reads = 0
  const send = async (accountId: string, key: string, version: string, epoch = '1') => {
    const result = await responseCache.get(
      verified(accountId, version, epoch),
      key,
      async () => {
        reads++
        return response(version, `${accountId} ${key} ${version}`, epoch)
      },
      newClient(),
    )
    return result.body.toString()
  }
  expect(await send('1', 'a', '7')).toBe('1 a 7')
  expect(await send('1', 'a', '7')).toBe('1 a 7')
  expect(reads).toBe(1)
  expect(await send('2', 'a', '7')).toBe('2 a 7')
  expect(await send('1', 'b', '7')).toBe('1 b 7')
  expect(await send('1', 'a', '8')).toBe('1 a 8')
  expect(await send('1', 'a', '8', '2')).toBe('1 a 8')
  expect(reads).toBe(5)
})

it('caches a response under the version that it shows, not the verified one', async () => {
  const responseCache = new ResponseCache()
  const newer = () => Promise.resolve(response('9', 'newer'))
  const never = () => Promise.reject(new Error('not cached'))
  expect((await responseCache.get(verified('1', '8'), 'a', newer, newClient())).body.toString()).toBe('newer')
  expect((await responseCache.get(verified('1', '9'), 'a', never, newClient())).body.toString()).toBe('newer')
  await expect(responseCache.get(verified('1', '8'), 'a', never, newClient())).rejects.toThrow('not cached')
})

it('shares a read among identical requests in flight, and does not cache a failure', async () => {
  const responseCache = new ResponseCache()
  let reads = 0
  const slow = async () => {
    reads++
    await new Promise((resolve) => setTimeout(resolve, 20))
    if (reads === 1) throw new Error('broken')
    return response('7', 'complete')
  }
  const both = await Promise.allSettled([
    responseCache.get(verified('1', '7'), 'a', slow, newClient()),
    responseCache.get(verified('1', '7'), 'a', slow, newClient()),
  ])
  expect([reads, both.map(({ status }) => status)]).toEqual([1, ['rejected', 'rejected']])
  expect((await responseCache.get(verified('1', '7'), 'a', slow, newClient())).body.toString()).toBe(
    'complete',
  )
})

/** A read that ends when the test calls `finish`, or when it is aborted. */
function pendingRead() {
  let finish: (result: ReadResponse) => void = () => {}
  const seen: AbortSignal[] = []
  const read = (signal: AbortSignal) => {
    seen.push(signal)
    return new Promise<ReadResponse>((resolve, reject) => {
      finish = resolve
      signal.addEventListener('abort', () => reject(new Error('aborted')))
    })
  }
  return { read, seen, finish: (text: string) => finish(response('7', text)) }
}

it('aborts a read when all clients that wait for it have disconnected, and not before', async () => {
  const responseCache = new ResponseCache()
  const { read, seen, finish } = pendingRead()
  const [first, second, third] = [newClient(), newClient(), newClient()]
  const waiting = [first, second, third].map(async (client) =>
    responseCache.get(verified('1', '7'), 'a', read, client),
  )
  first.disconnect()
  third.disconnect()
  expect(seen.map(({ aborted }) => aborted)).toEqual([false])
  finish('complete')
  expect((await Promise.all(waiting)).map(({ body }) => body.toString())).toEqual([
    'complete',
    'complete',
    'complete',
  ])
  expect(second.listenerCount('close')).toBe(0)

  const again = pendingRead()
  const disconnected = responseCache.get(verified('1', '8'), 'a', again.read, first)
  await expect(disconnected).rejects.toThrow('aborted')
  expect(again.seen.map(({ aborted }) => aborted)).toEqual([true])
})

it('starts a new read for a request that arrives after the abort', async () => {
  const responseCache = new ResponseCache()
  const [early, late] = [pendingRead(), pendingRead()]
  const leaving = newClient()
  const aborted = responseCache.get(verified('1', '7'), 'a', early.read, leaving)
  leaving.disconnect()
  const waiting = responseCache.get(verified('1', '7'), 'a', late.read, newClient())
  await expect(aborted).rejects.toThrow('aborted')
  // The end of the first read must not remove the second: a third request joins it.
  const joined = responseCache.get(
    verified('1', '7'),
    'a',
    () => Promise.reject(new Error('a third read')),
    newClient(),
  )
  late.finish('complete')
  expect((await waiting).body.toString()).toBe('complete')
  expect((await joined).body.toString()).toBe('complete')
})

it('admits a response only on its second request when it is full', async () => {
  const responseCache = new ResponseCache()
  const large = 'x'.repeat(limits.cachedResponseBytesMax / 4)
  let reads = 0
  const send = (requestHash: string, text = large) =>
    responseCache.get(
      verified('1', '7'),
      requestHash,
      async () => {
        reads++
        return response('7', text)
      },
      newClient(),
    )
  await send('often')
  const fit = Math.floor(limits.responseCacheBytesMax / (large.length * 2 + 500))
  for (let i = 1; i < fit; i++) await send(`first ${i}`)
  for (let i = 0; i < 3 * fit; i++) await send(`once ${i}`)
  expect(reads).toBe(4 * fit)
  await send('often')
  expect(reads).toBe(4 * fit)
  await send('once 0')
  await send('once 0')
  expect(reads).toBe(4 * fit + 1)
})
