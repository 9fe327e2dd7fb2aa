import { describe, expect, inject, test } from 'vitest'
import { create, keyOf, listIn, partners, problemIn, products, send } from './client.ts'
import { issueKey } from './operator.ts'

test('[5-1] the key is sent as Authorization: Bearer', async () => {
  const headers = { authorization: `Bearer ${keyOf('acme')}` }
  expect((await send(products, { key: null, headers })).status).toBe(200)
  problemIn(await send(products, { key: null, headers: { 'x-api-key': keyOf('acme') } }), 401)
})

test('[5-2][A5] the headers of the examples are accepted on a request with and without a body', async () => {
  const headers = { 'content-type': 'application/json', accept: '*/*' }
  expect(listIn(await send(products, { headers })).meta.total).toBe(30)
  expect((await send(`${partners}/1`, { headers })).status).toBe(200)
  expect((await create('{"name":"As in the examples"}', { headers })).status).toBe(201)
})

test('[5-3] the host selects the account, and the key must belong to it', async () => {
  expect((await send(products, { host: 'acme', key: keyOf('acme') })).status).toBe(200)
  expect((await send(products, { host: 'globex', key: keyOf('globex') })).status).toBe(200)
  problemIn(await send(products, { host: 'acme', key: keyOf('globex') }), 401)
  problemIn(await send(products, { host: 'globex', key: keyOf('acme') }), 401)
})

test('[5-4][7-4] without valid authentication it is a 401', async () => {
  for (const key of [null, 'qm_', keyOf('expired'), keyOf('revoked'), keyOf('globex')]) {
    expect(problemIn(await send(products, { key }), 401).code).toBe('unauthenticated')
  }
})

describe.skipIf(inject('target').local === undefined)('by the operator', () => {
  test('[5-5][A3][A4] a key is issued with a name, scopes and an expiry', async () => {
    const environment = { DATABASE_URL: inject('target').local?.databaseUrl ?? '' }
    const issued = await issueKey(environment, 'acme', 'for a day', ['product:read'], '--expires', '1d')
    expect(issued).toMatchObject({ name: 'for a day', scopes: ['product:read'] })
    expect(issued.key).toMatch(/^qm_[0-9A-Za-z]{36}$/)
    expect((await send(products, { key: issued.key })).status).toBe(200)
    problemIn(await send(partners, { key: issued.key }), 403)
  })
})
