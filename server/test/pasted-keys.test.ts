import { describe, expect, it } from 'vitest'
import { generateKey } from '../src/accounts/key-format.ts'
import { quartermaster } from './command.ts'
import { account } from './database.ts'
import { eventually } from './eventually.ts'
import { freshService } from './service.ts'

/** An API key in the wrong header or field is never stored. */

const key = generateKey()

const { url, client, service } = await freshService()
const acme = await account(client, 'acme')

const keys = '/manage/v1/keys'
const partners = '/api/v1/resources/partner'
const parameters = { name: 'shop', scopes: ['product:read'] }

function post(path: string, body: object, headers: Record<string, string> = {}) {
  return service.post(acme, path, body, headers)
}

/** Every row of every table as text, after all requests are logged. */
async function allRows(): Promise<string> {
  await eventually(async () => {
    const { rows } = await client.query<{ count: string }>('select count(*) from request')
    return Number(rows[0]?.count) >= service.events.filter(({ kind }) => kind === 'request-completed').length
  })
  const { rows: tables } = await client.query<{ name: string }>(
    `select format('%I', tablename) as name from pg_tables where schemaname = 'public'`,
  )
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t`)
      return rows.map(({ row }) => row).join('\n')
    }),
  )
  return texts.join('\n')
}

/** The secret part of a key. */
const secret = (text: string) => text.slice(5, 31)

describe('an API key sent by mistake', () => {
  it('as an Idempotency-Key is rejected, and nothing is created', async () => {
    for (const path of [partners, keys]) {
      for (const text of [key, `order ${key} 1`]) {
        const { status, body } = await post(path, path === keys ? parameters : { name: 'A' }, {
          'idempotency-key': text,
        })
        expect(status).toBe(400)
        expect(body).toMatchObject({ errors: [{ parameter: 'Idempotency-Key', code: 'header_invalid' }] })
        expect(JSON.stringify(body)).not.toContain(secret(key))
      }
    }
    const { rows } = await client.query('select name from partner')
    expect(rows).toEqual([])
  })

  it('as the name of a key or a partner is rejected', async () => {
    for (const path of [partners, keys]) {
      for (const name of [key, `my ${key}`]) {
        const { status, body } = await post(path, { ...(path === keys ? parameters : {}), name })
        expect(status).toBe(400)
        expect(body).toMatchObject({ errors: [{ pointer: '/name', code: 'member_invalid' }] })
      }
    }
    const cli = await quartermaster(
      ['key', 'create', '--account', 'acme', '--name', key, '--scopes', 'product:read'],
      {
        DATABASE_OWNER_URL: url,
      },
    )
    expect(cli.code).not.toBe(0)
    expect(cli.stderr).toContain('contains an API key')
  })

  it('in a Content-Type is rejected', async () => {
    const type = { 'content-type': `application/json; a=${key}` }
    const { status, body } = await post(partners, { name: 'A' }, type)
    expect(status).toBe(400)
    expect(body).toMatchObject({ errors: [{ parameter: 'Content-Type', code: 'content_type_invalid' }] })
    expect(JSON.stringify(body)).not.toContain(secret(key))
  })

  it('as the User-Agent is redacted in the audit', async () => {
    const { status } = await post(keys, parameters, { 'user-agent': `shop/1.0 (${key})` })
    expect(status).toBe(201)
    const { rows } = await client.query("select application from audit where actor = 'key'")
    expect(rows).toEqual([{ application: 'shop/1.0 (qm_…)' }])
  })

  it('is in no table and in no event, wherever it was sent', async () => {
    const spelled = key.replace('qm_', '%71m_')
    const paths = [
      `/api/v1/inventory/product?filter=name=${key}`,
      `/api/v1/inventory/product?fields=${key}`,
      `/api/v1/inventory/product?page=${key}`,
      `/api/v1/inventory/product?limit=${spelled}`,
      `/api/v1/inventory/product?${key}`,
      `/api/v1/inventory/product?${spelled}%zz`,
      `/api/v1/inventory/product/${key}`,
      `/api/v1/${key}`,
      `/api/v1/${spelled}/%zz`,
      `/manage/v1/requests?filter=filter=${key}`,
      `/manage/v1/usage?per=${key}`,
      `${keys}/${key}`,
    ]
    const headers = {
      'user-agent': key,
      'x-request-id': key,
      traceparent: `00-${key}-b7ad6b7169203331-01`,
      'x-forwarded-for': key,
      'if-none-match': `"${key}"`,
      accept: key,
      'accept-encoding': key,
      cookie: key,
    }
    for (const path of paths) await service.request(acme, 'GET', path, { headers })
    await post(`${keys}/${key}/revoke`, {}, headers)
    await post(`${keys}/${key}/rotate`, { overlap_seconds: 0 }, headers)
    await post(keys, { ...parameters, [key]: key, scopes: [key], expires_at: key }, headers)
    await post(partners, { name: 'A', [key]: key }, headers)
    const stored = await allRows()
    expect(stored).toContain('qm_…')
    expect(stored).not.toContain(secret(key))
    const events = service.events
      .filter(({ kind }) => kind !== 'request-completed')
      .map((event) => JSON.stringify(event))
    expect(events.join()).not.toContain(secret(key))
    const ids = service.events.flatMap((event) =>
      event.kind === 'request-completed' ? [event.requestId] : [],
    )
    expect(ids.join()).not.toContain(secret(key))
  })
})

describe('a malformed key id', () => {
  it('is 404, like an unknown key', async () => {
    const { body } = await post(keys, parameters)
    const { data }: { data: { key_id: string } } = JSON.parse(JSON.stringify(body))
    const id = data.key_id
    for (const odd of [
      `${id.slice(0, 4)}%00${id.slice(4)}`,
      `${id}%00`,
      '%00',
      'ab%00cd',
      `${id}%20`,
      'x'.repeat(10_000),
    ]) {
      const responses = await Promise.all([
        service.request(acme, 'GET', `${keys}/${odd}`),
        service.request(acme, 'POST', `${keys}/${odd}/revoke`),
        post(`${keys}/${odd}/rotate`, { overlap_seconds: 0 }),
      ])
      for (const { status, body: rejection } of responses) {
        expect(status, odd).toBe(404)
        expect(rejection).toMatchObject({ code: 'record_unknown' })
      }
    }
    expect((await service.request(acme, 'GET', `${keys}/${id}`)).body).toMatchObject({
      data: { state: 'active' },
    })
  })
})
