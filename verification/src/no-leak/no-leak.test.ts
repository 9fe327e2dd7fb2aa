import { describe, expect, it } from 'vitest'
import type { Attempt } from './attempts.ts'
import { violation } from './no-leak.ts'

const own = { name: 'a', stem: 'zqaa', marker: 'zqaaqz', key: 'k', revokedKey: 'r', firstId: 1000 }
const target = { method: 'GET', path: '/', status: 200, marked: true }
const ask = { path: '/', headers: [] }
const due: Attempt = { ask, entitled: own, due: 'all', target }
const refused: Attempt = { ask, entitled: undefined, due: 'none', target }
const odd: Attempt = { ask, entitled: own, due: 'some', target }
const answer = (status: number, text: string, headers = {}) => ({ status, text, headers })

describe('an answer', () => {
  it('may show the data of the account that the key and the host name', () => {
    expect(violation(due, answer(200, 'zqaaqz product'))).toBeUndefined()
    expect(violation(odd, answer(200, 'zqaaqz product'))).toBeUndefined()
    expect(violation(odd, answer(401, ''))).toBeUndefined()
    expect(violation(refused, answer(401, ''))).toBeUndefined()
  })

  it.each<[string, Attempt, ReturnType<typeof answer>]>([
    ['data of another account', due, answer(200, 'zqaaqz zqabqz')],
    ['data of another account in a header', due, answer(200, 'zqaaqz', { link: 'zqabqz' })],
    ['data of another account at an odd host', odd, answer(200, 'zqabqz')],
    ['any data to a wrong key', refused, answer(401, 'zqaaqz')],
    ['success to a wrong key', refused, answer(200, '{}')],
    ['another refusal than 401', refused, answer(404, '{}')],
    ['nothing where data is due', due, answer(200, '{"data":[]}')],
    ['data where none is due', { ...due, target: { ...target, marked: false } }, answer(200, 'zqaaqz')],
    ['401 where data is due', due, answer(401, '')],
    ['a breakdown', odd, answer(500, '')],
  ])('may not show %s', (_what, attempt, given) => {
    expect(violation(attempt, given)).toBeDefined()
  })
})
