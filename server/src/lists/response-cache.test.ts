import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { limits } from '../limits.ts'
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
const someone = () => new Client()

const check = (accountId: string, version: string, epoch = '1') => ({
  access: { accountId, keyId: 'k', scopes: new Set<never>(), requestsPerMinute: 0, keyRequestsPerMinute: 0 },
  tally: { epoch, version, xid: '500', total: 1 },
})
const answer = (version: string, text: string, epoch = '1'): ReadResponse =>
  responseOf({ epoch, version, xid: '500' }, `"${version}"`, text, undefined, 1)

it('keeps an answer for its account, request, version and epoch, and for nothing else', async () => {
  const responseCache = new ResponseCache()
  let reads = 0
  const ask = async (accountId: string, key: string, version: string, epoch = '1') => {
    const got = await responseCache.get(
      check(accountId, version, epoch),
      key,
      async () => {
        reads++
        return answer(version, `${accountId} ${key} ${version}`, epoch)
      },
      someone(),
    )
    return got.body.toString()
  }
  expect(await ask('1', 'a', '7')).toBe('1 a 7')
  expect(await ask('1', 'a', '7')).toBe('1 a 7')
  expect(reads).toBe(1)
  expect(await ask('2', 'a', '7')).toBe('2 a 7')
  expect(await ask('1', 'b', '7')).toBe('1 b 7')
  expect(await ask('1', 'a', '8')).toBe('1 a 8')
  expect(await ask('1', 'a', '8', '2')).toBe('1 a 8')
  expect(reads).toBe(5)
})

it('files an answer under the version that it shows, not the one that was asked for', async () => {
  const responseCache = new ResponseCache()
  const newer = () => Promise.resolve(answer('9', 'newer'))
  const never = () => Promise.reject(new Error('it was kept'))
  expect((await responseCache.get(check('1', '8'), 'a', newer, someone())).body.toString()).toBe('newer')
  expect((await responseCache.get(check('1', '9'), 'a', never, someone())).body.toString()).toBe('newer')
  await expect(responseCache.get(check('1', '8'), 'a', never, someone())).rejects.toThrow('it was kept')
})

it('shares a read among those who ask the same at the same version, and a failure with no one later', async () => {
  const responseCache = new ResponseCache()
  let reads = 0
  const slow = async () => {
    reads++
    await new Promise((resolve) => setTimeout(resolve, 20))
    if (reads === 1) throw new Error('broken')
    return answer('7', 'whole')
  }
  const both = await Promise.allSettled([
    responseCache.get(check('1', '7'), 'a', slow, someone()),
    responseCache.get(check('1', '7'), 'a', slow, someone()),
  ])
  expect([reads, both.map(({ status }) => status)]).toEqual([1, ['rejected', 'rejected']])
  expect((await responseCache.get(check('1', '7'), 'a', slow, someone())).body.toString()).toBe('whole')
})

/** A read that ends when it is told to, or when all clients have disconnected. */
function pendingRead() {
  let finish: (answer: ReadResponse) => void = () => {}
  const seen: AbortSignal[] = []
  const read = (signal: AbortSignal) => {
    seen.push(signal)
    return new Promise<ReadResponse>((resolve, reject) => {
      finish = resolve
      signal.addEventListener('abort', () => reject(new Error('aborted')))
    })
  }
  return { read, seen, finish: (text: string) => finish(answer('7', text)) }
}

it('aborts a read when all clients that wait for it have disconnected, and not before', async () => {
  const responseCache = new ResponseCache()
  const { read, seen, finish } = pendingRead()
  const [first, second, third] = [someone(), someone(), someone()]
  const waiting = [first, second, third].map(async (client) =>
    responseCache.get(check('1', '7'), 'a', read, client),
  )
  first.disconnect()
  third.disconnect()
  expect(seen.map(({ aborted }) => aborted)).toEqual([false])
  finish('whole')
  expect((await Promise.all(waiting)).map(({ body }) => body.toString())).toEqual(['whole', 'whole', 'whole'])
  expect(second.listenerCount('close')).toBe(0)

  const again = pendingRead()
  const gone = responseCache.get(check('1', '8'), 'a', again.read, first)
  await expect(gone).rejects.toThrow('aborted')
  expect(again.seen.map(({ aborted }) => aborted)).toEqual([true])
})

it('starts a read of its own for a request that comes after the abort', async () => {
  const responseCache = new ResponseCache()
  const [early, late] = [pendingRead(), pendingRead()]
  const impatient = someone()
  const given = responseCache.get(check('1', '7'), 'a', early.read, impatient)
  impatient.disconnect()
  const patient = responseCache.get(check('1', '7'), 'a', late.read, someone())
  await expect(given).rejects.toThrow('aborted')
  // The end of the first must not take the second out of sight: a third joins it.
  const joined = responseCache.get(
    check('1', '7'),
    'a',
    () => Promise.reject(new Error('a third read')),
    someone(),
  )
  late.finish('whole')
  expect((await patient).body.toString()).toBe('whole')
  expect((await joined).body.toString()).toBe('whole')
})

it('keeps what is asked for a second time when it is full, and nothing before', async () => {
  const responseCache = new ResponseCache()
  const large = 'x'.repeat(limits.cachedResponseBytesMax / 4)
  let reads = 0
  const ask = (requestHash: string, text = large) =>
    responseCache.get(
      check('1', '7'),
      requestHash,
      async () => {
        reads++
        return answer('7', text)
      },
      someone(),
    )
  await ask('often')
  const fit = Math.floor(limits.responseCacheBytesMax / (large.length * 2 + 500))
  for (let i = 1; i < fit; i++) await ask(`first ${i}`)
  const walk = async (name: string) => {
    for (let i = 0; i < 3 * fit; i++) await ask(`${name} ${i}`)
  }
  await walk('once')
  expect(reads).toBe(4 * fit)
  await ask('often')
  expect(reads).toBe(4 * fit)
  await ask('once 0')
  await ask('once 0')
  expect(reads).toBe(4 * fit + 1)
})
