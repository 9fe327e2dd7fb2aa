import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import {
  create,
  createdId,
  encoded,
  faultIn,
  type HttpResponse,
  keyOf,
  list,
  partners,
  problemIn,
  recordIn,
  send,
} from './client.ts'

const initech = () => ({ host: 'initech', key: keyOf('initech') })
const named = (name: unknown) => JSON.stringify({ name })
const nameOf = async (response: HttpResponse) =>
  recordIn(await send(`${partners}/${createdId(response)}?fields=name`, initech()))['name']
const withKey = (body: string, key: string) => create(body, { headers: { 'idempotency-key': key } })

/** A busy machine may reject a write. With a key, a client can send it again. */
async function untilAccepted(body: string, key: string): Promise<HttpResponse> {
  for (;;) {
    const response = await withKey(body, key)
    if (response.status !== 429 && response.status !== 503) return response
    await sleep(250)
  }
}

describe('C1: the body', () => {
  test('[C1] a name has 1 to 512 characters after trimming', async () => {
    expect(await nameOf(await create(named('x')))).toBe('x')
    expect(await nameOf(await create(named('  trimmed  ')))).toBe('trimmed')
    expect(await nameOf(await create(named(`  ${'y'.repeat(512)}  `)))).toBe('y'.repeat(512))
    expect(await nameOf(await create(named('🔩'.repeat(512))))).toBe('🔩'.repeat(512))
    for (const name of ['', '   ', 'z'.repeat(513), '🔩'.repeat(513)]) {
      expect(faultIn(await create(named(name)))).toMatchObject({ pointer: '/name', code: 'member_invalid' })
    }
  })

  test('[C1] a name has no control characters', async () => {
    for (const name of ['a\u0000b', 'a\nb', 'a\tb', 'a\u001fb', 'a\u007fb', 'a\u0085b']) {
      expect(faultIn(await create(named(name)))).toMatchObject({ pointer: '/name', code: 'member_invalid' })
    }
  })

  test('[C1] half of a surrogate pair is rejected', async () => {
    expect(faultIn(await create('{"name":"a\\ud83d"}')).pointer).toBe('/name')
  })

  test('[C1] a name of another type is a 400', async () => {
    for (const name of [1, true, null, ['x'], { first: 'x' }]) {
      expect(faultIn(await create(named(name)))).toMatchObject({ pointer: '/name', code: 'member_invalid' })
    }
  })

  test('[C1] every unknown member is reported', async () => {
    const { errors } = problemIn(
      await create('{"name":"x","is_company":true,"nmae":"y","id":7,"__proto__":{}}'),
      400,
    )
    const unknown = errors?.filter(({ code }) => code === 'member_unknown').map(({ pointer }) => pointer)
    expect(unknown?.toSorted()).toEqual(['/__proto__', '/id', '/nmae'])
  })

  test('[C1] any other field of a partner can be set, with the types of its fields', async () => {
    const body =
      '{"name":"Ada","is_company":false,"is_patient":true,"is_customer":true,"is_vendor":true,"is_employee":true,"email":"ada@example.com","phone":null,"active":false}'
    const id = createdId(await create(body))
    const record = recordIn(await send(`${partners}/${id}`, initech()))
    expect(record).toMatchObject({ ...JSON.parse(body), id })
    const { errors } = problemIn(
      await create('{"name":"x","active":null,"email":7,"phone":"x\\u0000","is_vendor":"true"}'),
      400,
    )
    expect(errors?.map(({ pointer, code }) => `${pointer} ${code}`).toSorted()).toEqual([
      '/active member_invalid',
      '/email member_invalid',
      '/is_vendor member_invalid',
      '/phone member_invalid',
    ])
  })

  test('[C1] malformed JSON, or JSON that is not an object, is a 400', async () => {
    for (const body of [
      '{"name":"x"',
      '{name:"x"}',
      "{'name':'x'}",
      '',
      '[]',
      '"x"',
      'null',
      '1',
      '[{"name":"x"}]',
      '{"name":"x","name":"y"}',
    ]) {
      expect(problemIn(await create(body), 400).code).toBe('body_invalid')
    }
  })

  test('[C1] a missing or other content type is a 400', async () => {
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'text/json']
    for (const type of types) {
      const response = await create(named('Wrong type'), { headers: { 'content-type': type } })
      expect(faultIn(response).code).toBe('content_type_invalid')
    }
    const none = await send(partners, { ...initech(), method: 'POST', body: named('Wrong type') })
    expect(faultIn(none).code).toBe('content_type_invalid')
    for (const rest of [{}, { body: '' }]) {
      expect((await send(partners, { ...initech(), method: 'POST', ...rest })).status).toBe(400)
    }
    expect((await list(`${partners}?filter=name="Wrong%20type"`, initech())).meta.total).toBe(0)
  })

  test('[C1] a charset parameter of the JSON content type is accepted', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    expect((await create(named('Charset'), { headers })).status).toBe(201)
  })
})

describe('C2: the response body', () => {
  test('[C2] the path with and without a trailing slash gets the same response', async () => {
    for (const path of [partners, `${partners}/`]) {
      const headers = { 'content-type': 'application/json' }
      const response = await send(path, { ...initech(), method: 'POST', headers, body: named('Spelled') })
      const id = createdId(response)
      expect(response.text).toBe(`{"data":{"id":${id}}}`)
      expect(response.headers.location).toMatch(new RegExp(`/api/v1/resources/partner/${id}$`))
    }
  })
})

describe('C3: retries', () => {
  test('[C3] the same key and body replay the same response', async () => {
    const key = randomUUID()
    const name = `Once ${key}`
    const first = await withKey(named(name), key)
    const second = await withKey(named(name), key)
    const third = await withKey(named(name), key)
    expect(first.headers['idempotent-replayed']).toBeUndefined()
    for (const again of [second, third]) {
      expect([again.status, again.text]).toEqual([201, first.text])
      expect(again.headers['idempotent-replayed']).toBe('true')
      expect(again.headers.location).toBe(first.headers.location)
    }
    expect((await list(`${partners}?filter=${encoded(`name="${name}"`)}`, initech())).meta.total).toBe(1)
  })

  test('[C3] the same key with another body is a 422', async () => {
    const key = randomUUID()
    expect((await withKey(named('This'), key)).status).toBe(201)
    expect(problemIn(await withKey(named(`That ${key}`), key), 422).code).toBe('idempotency_mismatch')
    const that = await list(`${partners}?filter=${encoded(`name="That ${key}"`)}`, initech())
    expect(that.meta.total).toBe(0)
  })

  test('[C3] another key, or none, creates another partner', async () => {
    const body = named('Again and again')
    const responses = [
      await withKey(body, randomUUID()),
      await withKey(body, randomUUID()),
      await create(body),
      await create(body),
    ]
    expect(new Set(responses.map(createdId)).size).toBe(4)
  })

  test('[C3] keys are stored per account', async () => {
    const key = randomUUID()
    const headers = { 'idempotency-key': key }
    expect((await withKey(named('Here'), key)).status).toBe(201)
    const there = await create(named('There'), { host: 'globex', key: keyOf('globex'), headers })
    expect(there.status).toBe(201)
    expect(there.headers['idempotent-replayed']).toBeUndefined()
  })

  test('[C3] a key has 1 to 255 printable characters', async () => {
    const longest = `${randomUUID()} !"~`.padEnd(255, '#')
    expect((await withKey(named('Longest key'), longest)).status).toBe(201)
    for (const key of ['', `${longest}#`, 'a\tb']) {
      expect(faultIn(await withKey(named('Bad key'), key)).code).toBe('header_invalid')
    }
    expect((await list(`${partners}?filter=name="Bad%20key"`, initech())).meta.total).toBe(0)
  })

  test('[C3] a rejected request does not use its key', async () => {
    const key = randomUUID()
    problemIn(await withKey('{}', key), 400)
    expect((await withKey(named('Corrected'), key)).status).toBe(201)
  })

  test('[C3] of concurrent requests one creates; the others replay it or get 409 while it runs', async () => {
    const key = randomUUID()
    const body = named(`Race ${key}`)
    const responses = await Promise.all(Array.from({ length: 24 }, () => untilAccepted(body, key)))
    const created = responses.filter(({ status }) => status === 201)
    const running = responses.filter(({ status }) => status === 409)
    expect(created.length + running.length).toBe(24)
    expect(created.length).toBeGreaterThan(0)
    expect(new Set(created.map(createdId)).size).toBe(1)
    const original = created.filter(({ headers }) => headers['idempotent-replayed'] === undefined)
    // None if its response was 503, although it was created.
    expect(original.length).toBeLessThanOrEqual(1)
    for (const response of running) expect(problemIn(response, 409).code).toBe('idempotency_conflict')
    const found = await list(`${partners}?filter=${encoded(`name="Race ${key}"`)}`, initech())
    expect(found.meta.total).toBe(1)
  })
})
