import { expect, it } from 'vitest'
import { type Answer, answerOf } from './answer.ts'
import { Answers } from './answers.ts'

const check = (accountId: string, version: string, history = '1') => ({
  access: { accountId, keyId: 'k', scopes: new Set<never>(), requestsPerMinute: 0, keyRequestsPerMinute: 0 },
  tally: { history, version },
})
const answer = (version: string, text: string, history = '1'): Answer =>
  answerOf({ history, version }, `"${version}"`, text, undefined, 1)

it('keeps an answer for its account, request, version and history, and for nothing else', async () => {
  const answers = new Answers()
  let reads = 0
  const ask = async (accountId: string, key: string, version: string, history = '1') => {
    const got = await answers.get(check(accountId, version, history), key, async () => {
      reads++
      return answer(version, `${accountId} ${key} ${version}`, history)
    })
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
  expect((await answers.get(check('1', '8'), 'a', newer)).body.toString()).toBe('newer')
  expect((await answers.get(check('1', '9'), 'a', never)).body.toString()).toBe('newer')
  await expect(answers.get(check('1', '8'), 'a', never)).rejects.toThrow('it was kept')
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
    answers.get(check('1', '7'), 'a', slow),
    answers.get(check('1', '7'), 'a', slow),
  ])
  expect([reads, both.map(({ status }) => status)]).toEqual([1, ['rejected', 'rejected']])
  expect((await answers.get(check('1', '7'), 'a', slow)).body.toString()).toBe('whole')
})
