import { expect, test } from 'vitest'
import { create, createdId, faultIn, keyOf, list, partners, problemIn, recordIn, send } from './client.ts'

const initech = () => ({ host: 'initech', key: keyOf('initech') })
const json = { 'content-type': 'application/json' }

test('[4.7-1] POST creates the partner and returns 201', async () => {
  const before = (await list(partners, initech())).meta.total
  const response = await send('/api/v1/resources/partner', {
    ...initech(),
    method: 'POST',
    headers: json,
    body: '{"name":"Stark Industries"}',
  })
  const id = createdId(response)
  expect(recordIn(await send(`${partners}/${id}?fields=name`, initech()))).toEqual({
    name: 'Stark Industries',
  })
  expect((await list(partners, initech())).meta.total).toBeGreaterThan(before)
})

test('[4.7-2][C2] the path also works with a trailing slash', async () => {
  const response = await send(`${partners}/`, {
    ...initech(),
    method: 'POST',
    headers: json,
    body: '{"name":"With a slash"}',
  })
  const id = createdId(response)
  expect(recordIn(await send(`${partners}/${id}?fields=name`, initech()))).toEqual({ name: 'With a slash' })
})

test('[4.7-3] the body is JSON with the name', async () => {
  const id = createdId(await create('{ "name" : "J\\u00fcrgen \\"JJ\\" 螺 🔩" }'))
  expect(recordIn(await send(`${partners}/${id}?fields=name`, initech()))).toEqual({
    name: 'Jürgen "JJ" 螺 🔩',
  })
})

test('[4.7-4][C2] the response has the new id in data, and the record’s URL in Location', async () => {
  const response = await create('{"name":"Enveloped"}')
  const id = createdId(response)
  expect(JSON.parse(response.text)).toEqual({ data: { id } })
  expect(Number.isInteger(id)).toBe(true)
  expect(response.headers['content-type']).toMatch(/^application\/json\b/)
  const location = new URL(response.headers.location ?? '', 'http://initech.localhost')
  expect(location.pathname).toBe(`/api/v1/resources/partner/${id}`)
  expect(recordIn(await send(`${location.pathname}?fields=id`, initech()))).toEqual({ id })
})

test('[4.7-5][7-3] a malformed request is a 400', async () => {
  for (const body of ['{"name":', '', '{}', '{"name":1}']) {
    expect(problemIn(await create(body), 400).code).toBe('body_invalid')
  }
})

test('[4.7-6] without authentication it is a 401, and nothing is created', async () => {
  problemIn(await create('{"name":"Unauthenticated 401"}', { key: null }), 401)
  const found = await list(`${partners}?filter=name="Unauthenticated%20401"`, initech())
  expect(found.meta.total).toBe(0)
})

test('[4.7-7][R8] a query parameter is a 400', async () => {
  for (const query of ['fields=id', 'limit=1', 'nosuch=1']) {
    const response = await send(`${partners}?${query}`, {
      ...initech(),
      method: 'POST',
      headers: json,
      body: '{"name":"Parameterised"}',
    })
    expect(faultIn(response).code).toBe('parameter_unknown')
  }
  expect((await list(`${partners}?filter=name=Parameterised`, initech())).meta.total).toBe(0)
})

test('[4.7-8][C1] name is required and an unknown member is rejected', async () => {
  expect(faultIn(await create('{}'))).toMatchObject({ pointer: '/name', code: 'member_required' })
  const fault = faultIn(await create('{"name":"Too much","vendor":true}'))
  expect(fault).toMatchObject({ pointer: '/vendor', code: 'member_unknown' })
  expect((await list(`${partners}?filter=name="Too%20much"`, initech())).meta.total).toBe(0)
})

test('[4.7-9] partners cannot be replaced, and changed or deleted only with partner:write', async () => {
  problemIn(await send(`${partners}/1`, { method: 'PUT', headers: json, body: '{"name":"Changed"}' }), 405)
  for (const method of ['PATCH', 'DELETE']) {
    const options = { method, key: keyOf('partnerCreate'), headers: json, body: '{"name":"Changed"}' }
    problemIn(await send(`${partners}/1`, options), 403)
  }
  expect(recordIn(await send(`${partners}/1?fields=name`))).toEqual({ name: 'Ada Lovelace' })
})
