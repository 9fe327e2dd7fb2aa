import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { limits } from '../limits.ts'
import type { HangUp } from '../store/hang-up.ts'
import { type Answer, answerOf } from './answer.ts'
import { Answers, type Caller } from './answers.ts'

/** A client that may hang up. */
class Client extends EventEmitter implements Caller {
  destroyed = false
  hangUp() {
    this.destroyed = true
    this.emit('close')
  }
}
const someone = () => new Client()

const check = (accountId: string, version: string, epoch = '1') => ({
  access: { accountId, keyId: 'k', scopes: new Set<never>(), requestsPerMinute: 0, keyRequestsPerMinute: 0 },
  tally: { epoch, version, xid: '500', total: 1 },
})
const answer = (version: string, text: string, epoch = '1'): Answer =>
  answerOf({ epoch, version, xid: '500' }, `"${version}"`, text, undefined, 1)

it('keeps an answer for its account, request, version and epoch, and for nothing else', async () => {
  const answers = new Answers()
  let reads = 0
  const ask = async (accountId: string, key: string, version: string, epoch = '1') => {
    const got = await answers.get(
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
  const answers = new Answers()
  const newer = () => Promise.resolve(answer('9', 'newer'))
  const never = () => Promise.reject(new Error('it was kept'))
  expect((await answers.get(check('1', '8'), 'a', newer, someone())).body.toString()).toBe('newer')
  expect((await answers.get(check('1', '9'), 'a', never, someone())).body.toString()).toBe('newer')
  await expect(answers.get(check('1', '8'), 'a', never, someone())).rejects.toThrow('it was kept')
})

it('shares a read among those who ask the same at the same version, and a failure with no one later', async () => {
  const answers = new Answers()
  let reads = 0
  const slow = async () => {
    reads++
    await new Promise((resolve) => setTimeout(resolve, 20))
    if (reads === 1) throw new Error('broken')
    return answer('7', 'whole')
  }
  const both = await Promise.allSettled([
    answers.get(check('1', '7'), 'a', slow, someone()),
    answers.get(check('1', '7'), 'a', slow, someone()),
  ])
  expect([reads, both.map(({ status }) => status)]).toEqual([1, ['rejected', 'rejected']])
  expect((await answers.get(check('1', '7'), 'a', slow, someone())).body.toString()).toBe('whole')
})

/** A read that ends when it is told to, or when all have hung up. */
function pendingRead() {
  let finish: (answer: Answer) => void = () => {}
  const seen: HangUp[] = []
  const read = (hangUp: HangUp) => {
    seen.push(hangUp)
    return new Promise<Answer>((resolve, reject) => {
      finish = resolve
      hangUp.onUp(() => reject(new Error('given up')))
    })
  }
  return { read, seen, finish: (text: string) => finish(answer('7', text)) }
}

it('gives up a read when all who wait for it have hung up, and not before', async () => {
  const answers = new Answers()
  const { read, seen, finish } = pendingRead()
  const [first, second, third] = [someone(), someone(), someone()]
  const waiting = [first, second, third].map(async (client) =>
    answers.get(check('1', '7'), 'a', read, client),
  )
  first.hangUp()
  third.hangUp()
  expect(seen.map(({ isUp }) => isUp)).toEqual([false])
  finish('whole')
  expect((await Promise.all(waiting)).map(({ body }) => body.toString())).toEqual(['whole', 'whole', 'whole'])
  expect(second.listenerCount('close')).toBe(0)

  const again = pendingRead()
  const gone = answers.get(check('1', '8'), 'a', again.read, first)
  await expect(gone).rejects.toThrow('given up')
  expect(again.seen.map(({ isUp }) => isUp)).toEqual([true])
})

it('who asks after it was given up gets a read of its own', async () => {
  const answers = new Answers()
  const [early, late] = [pendingRead(), pendingRead()]
  const impatient = someone()
  const given = answers.get(check('1', '7'), 'a', early.read, impatient)
  impatient.hangUp()
  const patient = answers.get(check('1', '7'), 'a', late.read, someone())
  await expect(given).rejects.toThrow('given up')
  // The end of the first must not take the second out of sight: a third joins it.
  const joined = answers.get(check('1', '7'), 'a', () => Promise.reject(new Error('a third read')), someone())
  late.finish('whole')
  expect((await patient).body.toString()).toBe('whole')
  expect((await joined).body.toString()).toBe('whole')
})

it('keeps what is asked for a second time when it is full, and nothing before', async () => {
  const answers = new Answers()
  const large = 'x'.repeat(limits.answerBytesMax / 4)
  let reads = 0
  const ask = (mark: string, text = large) =>
    answers.get(
      check('1', '7'),
      mark,
      async () => {
        reads++
        return answer('7', text)
      },
      someone(),
    )
  await ask('often')
  const fit = Math.floor(limits.answersBytesMax / (large.length * 2 + 500))
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
