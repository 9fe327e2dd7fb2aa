import { type IncomingMessage, request } from 'node:http'
import { expect, inject, test } from 'vitest'
import {
  companies,
  create,
  createdId,
  encoded,
  faultIn,
  keyOf,
  partners,
  products,
  type RequestOptions,
  type Row,
  send,
} from './client.ts'

interface Change {
  readonly change: string
  readonly id: number
  readonly version: number
  readonly record?: Row
}

interface Changes {
  readonly data: readonly Change[]
  readonly meta: { readonly count: number; readonly more: boolean }
  readonly cursor: string
}

/** The account in which tests create partners. */
const initech = (): RequestOptions => ({ host: 'initech', key: keyOf('initech') })

async function changes(path: string, query: string, options: RequestOptions = {}): Promise<Changes> {
  const response = await send(`${path}/changes?${query}`, options)
  expect([response.status, response.headers['cache-control']]).toEqual([200, 'no-store'])
  return JSON.parse(response.text)
}

async function everything(path: string, query: string, options?: RequestOptions): Promise<Change[]> {
  const all: Change[] = []
  for (let since = ''; ; ) {
    const page = await changes(path, `${query}${since}`, options)
    expect(page.meta.count).toBe(page.data.length)
    all.push(...page.data)
    if (!page.meta.more) return all
    since = `&since=${page.cursor}`
  }
}

test('[S1] from the beginning the feed has every record of the list once', async () => {
  // Tests of other files create partners in acme.
  const globex: RequestOptions = { host: 'globex', key: keyOf('globex') }
  for (const [path, options] of [
    [products, {}],
    [companies, {}],
    [partners, globex],
  ] as const) {
    const list: { data: Row[] } = JSON.parse((await send(`${path}?limit=1000`, options)).text)
    const feed = await everything(path, 'limit=7', options)
    expect(feed.map(({ change }) => change)).toEqual(feed.map(() => 'created'))
    const records = feed.map(({ record }) => record)
    expect(records.toSorted((a, b) => Number(a?.['id']) - Number(b?.['id']))).toEqual(list.data)
  }
})

test('[S1] after a cursor it has what was created since, with the requested fields', async () => {
  const { cursor, data } = await changes(partners, 'since=now', initech())
  expect(data).toEqual([])
  const id = createdId(await create(JSON.stringify({ name: 'Followed' }), initech()))
  const next = await changes(partners, `since=${cursor}&fields=name,id&limit=1`, initech())
  expect(next.data).toMatchObject([{ change: 'created', id, record: { name: 'Followed', id } }])
})

test('[S2] with a filter the feed has the records of the filtered list', async () => {
  const filter = encoded('list_price>10&active=true')
  const list: { data: Row[] } = JSON.parse(
    (await send(`${products}?limit=1000&fields=id&filter=${filter}`)).text,
  )
  const feed = await everything(products, `limit=5&fields=id&filter=${filter}`)
  expect(feed.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(list.data.map(({ id }) => id))
})

test('[S3] what is not understood is a 400 with its parameter', async () => {
  for (const [query, parameter, code] of [
    ['since=yesterday', 'since', 'cursor_invalid'],
    ['limit=0', 'limit', 'limit_invalid'],
    ['wait=31', 'wait', 'wait_invalid'],
    ['page=1', 'page', 'parameter_unknown'],
    ['fields=nane', 'fields', 'field_unknown'],
  ] as const) {
    const response = await send(`${products}/changes?${query}`)
    expect(response.status, query).toBe(400)
    expect(faultIn(response)).toMatchObject({ parameter, code })
  }
})

test('[S3] a cursor is valid for its account, resource and filter only', async () => {
  const { cursor } = await changes(products, 'since=now')
  for (const [path, options] of [
    [`${products}/changes?since=${cursor}`, { host: 'globex', key: keyOf('globex') }],
    [`${partners}/changes?since=${cursor}`, {}],
    [`${products}/changes?since=${cursor}&filter=active=true`, {}],
  ] as const) {
    const response = await send(path, options)
    expect([response.status, faultIn(response)]).toMatchObject([400, { code: 'cursor_mismatch' }])
  }
  const mangled = `${cursor.slice(0, 20)}${cursor[20] === 'A' ? 'B' : 'A'}${cursor.slice(21)}`
  const response = await send(`${products}/changes?since=${mangled}`)
  expect([response.status, faultIn(response)]).toMatchObject([400, { code: 'cursor_invalid' }])
})

test('[S4] a request that waits gets the change when it is written', async () => {
  const { cursor } = await changes(partners, 'since=now', initech())
  const waiting = changes(partners, `since=${cursor}&wait=30&fields=name`, initech())
  const id = createdId(await create(JSON.stringify({ name: 'Awaited' }), initech()))
  // Tests of other files create partners in this account, too.
  const { data } = await waiting
  expect(data.length).toBeGreaterThan(0)
  const all = await changes(partners, `since=${cursor}&fields=name&limit=1000`, initech())
  expect(all.data).toContainEqual({
    change: 'created',
    id,
    version: expect.any(Number),
    etag: expect.any(String),
    record: { name: 'Awaited' },
  })
})

function stream(path: string, headers: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
  const { hostname, port } = new URL(inject('target').baseUrl)
  return new Promise((resolve, reject) => {
    const outgoing = request({
      agent: false,
      hostname,
      port,
      path,
      headers: {
        host: `initech.${inject('target').domain}`,
        authorization: `Bearer ${keyOf('initech')}`,
        accept: 'text/event-stream',
        ...headers,
      },
    })
    outgoing.on('response', resolve)
    outgoing.on('error', reject)
    outgoing.end()
  })
}

/** Reads until an event has the text, and returns that event's id. */
async function idOfEventWith(response: IncomingMessage, text: string): Promise<string> {
  let received = ''
  for await (const chunk of response) {
    received += String(chunk)
    const event = received.split('\n\n').find((one) => one.includes(text) && one.includes('\ndata: '))
    if (event === undefined || !received.includes(`${event}\n\n`)) continue
    expect(event).toMatch(/^id: \S+\nevent: changes\ndata: \{"data":\[/)
    return /^id: (\S+)/.exec(event)?.[1] ?? ''
  }
  throw new Error(`the stream ended before ${text}`)
}

test('[S5] a stream sends changes as they are written, and resumes after the last event', async () => {
  const first = await stream(`${partners}/changes?since=now`)
  expect([first.statusCode, first.headers['content-type']]).toEqual([200, 'text/event-stream'])
  await create(JSON.stringify({ name: 'Streamed one' }), initech())
  const id = await idOfEventWith(first, 'Streamed one')
  first.destroy()
  await create(JSON.stringify({ name: 'Streamed two' }), initech())
  const second = await stream(`${partners}/changes?since=now`, { 'last-event-id': id })
  await idOfEventWith(second, 'Streamed two')
  second.destroy()
})

test('[S6] the changes after an export continue it', async () => {
  const exported = await send(partners, {
    ...initech(),
    headers: { accept: 'application/x-ndjson' },
  })
  const cursor = String(exported.headers['x-changes-cursor'])
  const id = createdId(await create(JSON.stringify({ name: 'After the export' }), initech()))
  const { data } = await changes(partners, `since=${cursor}&limit=1000`, initech())
  expect(exported.text).not.toContain('After the export')
  expect(data.map((change) => change.id)).toContain(id)
})
