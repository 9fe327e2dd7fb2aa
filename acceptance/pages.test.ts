import { expect, test } from 'vitest'
import { type RequestOptions, send } from './client.ts'

/** Pages for people, which need no key. */

const withoutAccount: RequestOptions = { host: 'localhost', key: null }

test('[B3] a browser is led from / to the console, which needs no key; other clients get 401', async () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
  const redirect = await send('/', { ...withoutAccount, headers: { accept } })
  expect([redirect.status, redirect.headers['location']]).toEqual([303, '/console'])
  for (const path of ['/console', '/console/products?filter=id>5']) {
    const page = await send(path, { ...withoutAccount, headers: { accept } })
    // 503 in a checkout in which the console is not built.
    expect([200, 503]).toContain(page.status)
    expect(page.headers['content-type']).toMatch(/^text\/html\b/)
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    )
  }
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
    expect((await send('/', { ...withoutAccount, headers })).status).toBe(401)
  }
  expect((await send('/console', { ...withoutAccount, method: 'DELETE' })).status).toBe(405)
})

test('[B3] the documentation needs no key', async () => {
  const redirect = await send('/docs', withoutAccount)
  expect([redirect.status, redirect.headers['location']]).toEqual([308, '/docs/'])
  for (const path of ['/docs/', '/docs/guides/keep-a-copy.html']) {
    const page = await send(path, withoutAccount)
    // 503 in a checkout in which the site is not built.
    expect([200, 503]).toContain(page.status)
    expect(page.headers['content-type']).toMatch(/^text\/html\b/)
    if (page.status === 503) continue
    expect(page.headers['content-security-policy']).not.toContain('unsafe')
  }
  expect((await send('/docs/', { ...withoutAccount, method: 'DELETE' })).status).toBe(405)
})
