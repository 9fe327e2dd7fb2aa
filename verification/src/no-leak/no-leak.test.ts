import { describe, expect, it } from 'vitest'
import type { Attempt } from './attempts.ts'
import { violation } from './no-leak.ts'

const own = { name: 'a', stem: 'zqaa', marker: 'zqaaqz', key: 'k', revokedKey: 'r', firstId: 1000 }
const target = { method: 'GET', path: '/', status: 200, hasMarker: true }
const request = { path: '/', headers: [] }
const allowed: Attempt = { request, entitled: own, expected: 'target', target }
const rejected: Attempt = { request, entitled: undefined, expected: 'rejected', target }
const odd: Attempt = { request, entitled: own, expected: 'either', target }
const respond = (status: number, text: string, headers = {}) => ({ status, text, headers })

describe('a response', () => {
  it('may contain the data of the account that the key and the host name', () => {
    expect(violation(allowed, respond(200, 'zqaaqz product'))).toBeUndefined()
    expect(violation(odd, respond(200, 'zqaaqz product'))).toBeUndefined()
    expect(violation(odd, respond(401, ''))).toBeUndefined()
    expect(violation(rejected, respond(401, ''))).toBeUndefined()
  })

  it.each<[string, Attempt, ReturnType<typeof respond>]>([
    ['data of another account', allowed, respond(200, 'zqaaqz zqabqz')],
    ['data of another account in a header', allowed, respond(200, 'zqaaqz', { link: 'zqabqz' })],
    ['data of another account at an odd host', odd, respond(200, 'zqabqz')],
    ['any data for a wrong key', rejected, respond(401, 'zqaaqz')],
    ['success for a wrong key', rejected, respond(200, '{}')],
    ['an error other than 401 for a wrong key', rejected, respond(404, '{}')],
    ['an empty list instead of the own data', allowed, respond(200, '{"data":[]}')],
    [
      'own data that was not requested',
      { ...allowed, target: { ...target, hasMarker: false } },
      respond(200, 'zqaaqz'),
    ],
    ['a 401 for a valid request', allowed, respond(401, '')],
    ['a server error', odd, respond(500, '')],
  ])('may not contain or be %s', (_what, attempt, response) => {
    expect(violation(attempt, response)).toBeDefined()
  })
})
