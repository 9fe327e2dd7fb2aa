import { once } from 'node:events'
import { createServer } from 'node:http'
import { chromium, type Page } from 'playwright-core'
import { demoProducts } from '../../../server/src/cli/demo/demo-data.ts'
import { importRecords } from '../../../server/src/import/import-records.ts'
import { browserPath } from '../capabilities.ts'
import type { Check } from '../check.ts'
import { Service } from '../service.ts'
import { waitUntil } from '../wait-until.ts'

/** What a page calls: a request, and which parts of the response it could read. Evaluated in the page. */
const helpers = `
const refused = { status: 'refused' }
async function call(path, options = {}, key = KEY) {
  try {
    const headers = { authorization: 'Bearer ' + key, ...options.headers }
    const response = await fetch(BASE + path, { ...options, headers })
    const read = (name) => response.headers.get(name)
    const text = options.streams ? await firstOf(response) : await response.text()
    return { status: response.status, etag: read('etag'), read, text }
  } catch (error) {
    return { ...refused, text: String(error), read: () => null }
  }
}
async function firstOf(response) {
  const reader = response.body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}
const one = '/api/v1/inventory/product/1'
const list = '/api/v1/inventory/product'
const patch = (etag, name) => ({
  method: 'PATCH',
  headers: { 'content-type': 'application/merge-patch+json', 'if-match': etag, 'idempotency-key': crypto.randomUUID() },
  body: JSON.stringify({ name }),
})
`

/** Each step of the page whose origin is listed, with what it must find. */
const listed = `
const found = {}
const first = await call(one)
found['GET'] = [first.status === 200, first]
found['its headers'] = [['etag', 'ratelimit', 'x-request-id'].every((name) => first.read(name) !== null), first]
found['304'] = [(await call(one, { headers: { 'if-none-match': first.etag } })).status === 304, first]
const changed = await call(one, patch(first.etag, 'changed by a page'))
found['PATCH with If-Match'] = [changed.status === 200 && changed.text.includes('changed by a page'), changed]
const stale = await call(one, patch(first.etag, 'lost update'))
found['412'] = [stale.status === 412 && stale.text.includes('"precondition_failed"'), stale]
const after = await call(one, { headers: { 'if-none-match': first.etag } })
found['GET after the change'] = [after.status === 200 && after.etag !== first.etag, after]
const created = await call(list, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"new"}' })
found['POST'] = [created.status === 201 && created.read('location') !== null, created]
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const query = await call(list, { method: 'QUERY', headers: form, body: 'limit=1&fields=id' })
found['QUERY'] = [query.status === 200 && query.read('link') !== null, query]
const csv = await call(list + '?fields=id', { headers: { accept: 'text/csv' } })
found['export'] = [csv.status === 200 && csv.read('x-changes-cursor') !== null, csv]
const events = await call(list + '/changes', { streams: true, headers: { accept: 'text/event-stream' } })
found['stream'] = [events.status === 200 && events.text.includes('event: changes'), events]
const rows = { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body: '{"id":1,"name":"by a batch"}\\n' }
const batch = await call(list + '/batch?mode=update', rows)
found['batch'] = [batch.status === 200 && batch.text.includes('"updated":1'), batch]
const wrong = await call(one, {}, 'qm_wrong')
found['401'] = [wrong.status === 401 && wrong.text.includes('"unauthenticated"'), wrong]
const unknown = await call('/api/v1/nothing')
found['404'] = [unknown.status === 404 && unknown.text.includes('"path_unknown"'), unknown]
const managed = await call('/manage/v1/keys')
found['no management'] = [managed.status === 'refused', managed]
const cookies = await call(one, { credentials: 'include' })
found['no credentials'] = [cookies.status === 'refused', cookies]
`

/** Of a page whose origin is not listed. */
const unlisted = `
const found = {}
for (const [name, path, options] of [
  ['GET', one], ['list', list], ['PATCH', one, patch('*', 'changed by another page')], ['no path', '/api/v1/nothing'],
]) {
  const response = await call(path, options)
  found['refused: ' + name] = [response.status === 'refused', response]
}
`

/**
 * Pages in Chromium, on other origins than the service: one whose origin the account lists reads and writes with every part of the
 * API, the other one can do nothing, and the first one neither after its origin was removed.
 */
export const cors: Check = {
  name: 'cors',
  bound: '0 wrong',
  needs: ['chromium'],
  async run(context) {
    const service = await Service.start()
    const pages = [await servePage(), await servePage()]
    const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] })
    try {
      const key = await service.account('acme')
      await importRecords({
        ownerUrl: service.postgres.url,
        account: 'acme',
        resource: 'product',
        records: demoProducts(50),
      })
      await service.command(['account', 'ids', 'acme', 'product', 'external', '--from', '1'])
      const [allowed = '', other = ''] = pages.map(({ origin }) => origin)
      await service.command(['account', 'cors', 'acme', '--allow', allowed])
      const { port } = await service.serve({ QUARTERMASTER_DEFAULT_ACCOUNT: 'acme' })
      const constants = `const BASE = 'http://127.0.0.1:${port}'\nconst KEY = '${key}'\n`
      const run = async (origin: string, steps: string) => {
        const page = await browser.newPage()
        await page.goto(origin)
        const results = await evaluated(page, `${constants}${helpers}${steps}`)
        await page.close()
        return results
      }
      const results = [...(await run(allowed, listed)), ...(await run(other, unlisted))]
      await service.command(['account', 'cors', 'acme', '--none'])
      const refused = `const found = { refused: [(await call(one)).status === 'refused', null] }`
      await waitUntil(async () => (await run(allowed, refused)).every(({ ok }) => ok))
      results.push(...(await run(allowed, unlisted)))
      const name = await nameOf(port, key)
      if (name !== 'by a batch') results.push({ step: `a page changed the product to ${name}`, ok: false })
      const wrong = results.filter(({ ok }) => !ok)
      for (const { step } of wrong) context.log(step)
      return {
        value: `${wrong.length} of ${results.length} steps`,
        ok: wrong.length === 0,
        samples: results.length,
        note: wrong.map(({ step }) => step).join('\n'),
      }
    } finally {
      await browser.close()
      for (const page of pages) page.close()
      await service.stop()
    }
  },
}

interface Step {
  /** With what was found, if it is wrong. */
  readonly step: string
  readonly ok: boolean
}

async function evaluated(page: Page, steps: string): Promise<readonly Step[]> {
  const text = await page.evaluate<string>(`(async () => { ${steps}; return JSON.stringify(found) })()`)
  const found: Record<string, readonly [boolean, unknown]> = JSON.parse(text)
  return Object.entries(found).map(([name, [ok, response]]) => ({
    step: ok ? name : `${name}: ${JSON.stringify(response).slice(0, 500)}`,
    ok,
  }))
}

/** An empty page on an origin of its own. */
async function servePage(): Promise<{ readonly origin: string; close(): void }> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>a page</title>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the page has no port')
  return {
    origin: `http://127.0.0.1:${address.port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function nameOf(port: number, key: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/inventory/product/1`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { data }: { data: { name: string } } = JSON.parse(await response.text())
  return data.name
}
