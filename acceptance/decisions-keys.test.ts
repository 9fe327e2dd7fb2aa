import { describe, expect, inject, test } from 'vitest'
import { keyOf, problemIn, products, send } from './client.ts'
import { issueKey, quartermaster } from './operator.ts'

test('[A3] a key is qm_, 30 random and 6 checksum characters of base62', async () => {
  for (const name of ['acme', 'globex', 'productRead', 'expired'] as const) {
    expect(keyOf(name)).toMatch(/^qm_[0-9A-Za-z]{36}$/)
  }
})

test('[A3] expired and revoked keys are rejected', async () => {
  problemIn(await send(products, { key: keyOf('expired') }), 401)
  problemIn(await send(products, { key: keyOf('revoked') }), 401)
})

const environment = () => ({ DATABASE_URL: inject('target').local?.databaseUrl ?? '' })

describe.skipIf(inject('target').local === undefined)('by the operator', () => {
  test('[A3] a revocation takes effect with the next request', async () => {
    const { key, key_id } = await issueKey(environment(), 'acme', 'soon revoked', ['product:read'])
    expect((await send(products, { key })).status).toBe(200)
    expect((await send(products, { key })).status).toBe(200)
    await quartermaster(environment(), 'key', 'revoke', key_id, '--account', 'acme')
    problemIn(await send(products, { key }), 401)
  })

  test('[A3] a key has a name and is shown once', async () => {
    const { key, key_id } = await issueKey(environment(), 'globex', 'the visible name', ['product:read'])
    const listed = await quartermaster(environment(), 'key', 'list', '--account', 'globex', '--json')
    expect(listed).toContain(key_id)
    expect(listed).toContain('the visible name')
    expect(listed).not.toContain(key)
    expect(listed).not.toContain(key.slice(3))
  })

  test('[A3] a key is rejected after its expiry', async () => {
    // How long the command takes depends on the machine: the expiry is several times as far ahead.
    const began = Date.now()
    await issueKey(environment(), 'acme', 'measured', ['product:read'])
    const expiry = Date.now() + 3000 + 4 * (Date.now() - began)
    const expires = new Date(expiry).toISOString()
    const { key } = await issueKey(
      environment(),
      'acme',
      'short-lived',
      ['product:read'],
      '--expires',
      expires,
    )
    expect((await send(products, { key })).status).toBe(200)
    await new Promise((resolve) => setTimeout(resolve, expiry - Date.now() + 100))
    problemIn(await send(products, { key }), 401)
  })

  test('[B8] a suspension takes effect with the next request', async () => {
    await quartermaster(environment(), 'account', 'create', 'shortly')
    const { key } = await issueKey(environment(), 'shortly', 'first')
    expect((await send(products, { host: 'shortly', key })).status).toBe(200)
    await quartermaster(environment(), 'account', 'suspend', 'shortly')
    problemIn(await send(products, { host: 'shortly', key }), 401)
  })
})
