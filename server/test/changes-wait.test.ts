import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type ChangesPage, changes, changesPath, changesUrl, summary, write } from './changes-fixture.ts'
import { account, type TestAccount } from './database.ts'
import { eventually } from './eventually.ts'
import { sampleOf, scrape } from './exposition.ts'
import { freshService, startTestService, type TestService } from './service.ts'

/** Long polls and streams of the change feed. */

let accounts = 0
/** Shortened: tests wait for them. */
const limits = { feedWaitersMax: 6, feedKeyCheckMs: 200, feedHeartbeatMs: 400, feedCheckMs: 100 }

const { url, client, service } = await freshService({ QUARTERMASTER_ADMIN_PORT: '0' }, limits)

async function newAccount(): Promise<TestAccount> {
  const created = await account(client, `wait${++accounts}`)
  await write(client, created, { upsert: { 1: 'one' } })
  return created
}

/** Requests that have ended, by their id: status and error code. */
const reported = (id: string, of = service) =>
  of.events.flatMap((event) =>
    event.kind === 'request-completed' && event.requestId === id ? [[event.status, event.context?.code]] : [],
  )

/** How many statements have checked for changes. A request that is in flight during two of them waits. */
const checks = (of = service) =>
  of.events.filter((event) => event.kind === 'statement-ended' && event.operation === 'changes_check').length

async function untilChecked(of = service): Promise<void> {
  const before = checks(of)
  await eventually(() => checks(of) >= before + 2)
}

async function untilWaiting(clients: number): Promise<void> {
  await eventually(async () => {
    const { samples } = await scrape(service.adminPort)
    return sampleOf(samples, 'quartermaster_feed_waiters') === clients
  })
}

/** A connection of its own, which a test can close. */
function open(
  { name, key }: TestAccount,
  path: string,
  headers: Record<string, string> = {},
  of = service,
): ClientRequest {
  const opened = request({
    port: of.port,
    path,
    agent: false,
    headers: { host: `${name}.localhost`, authorization: `Bearer ${key}`, ...headers },
  })
  opened.on('error', () => {})
  opened.end()
  return opened
}

const responseTo = (opened: ClientRequest) =>
  new Promise<IncomingMessage>((resolve) => opened.once('response', resolve))

async function pageOf(opened: ClientRequest): Promise<[number | undefined, ChangesPage]> {
  const response = await responseTo(opened)
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return [response.statusCode, JSON.parse(text)]
}

describe('a long poll', () => {
  it('returns at once if there are changes', async () => {
    const acme = await newAccount()
    expect(summary(await changes(service, acme, { wait: 30 }))).toEqual(['created 1 @1'])
  })

  it('returns when a change is written, not when another resource or account changes', async () => {
    const [acme, other] = [await newAccount(), await newAccount()]
    const { cursor } = await changes(service, acme)
    let ended = false
    const waiting = changes(service, acme, { since: cursor, wait: 30 }).finally(() => {
      ended = true
    })
    await untilChecked()
    await write(client, other, { upsert: { 2: 'two' } })
    await service.post(acme, '/api/v1/resources/partner', { name: 'Partner' })
    await untilChecked()
    expect(ended).toBe(false)
    await write(client, acme, { upsert: { 2: 'two' }, delete: [1] })
    expect(summary(await waiting)).toEqual(['deleted 1 @2', 'created 2 @2'])
  })

  it('of since=now returns the next change', async () => {
    const acme = await newAccount()
    const waiting = changes(service, acme, { since: 'now', wait: 30 })
    await untilChecked()
    await write(client, acme, { upsert: { 1: 'ONE' } })
    expect(summary(await waiting)).toEqual(['updated 1 @2'])
  })

  it('returns an empty page with a cursor when the time is up', async () => {
    const acme = await newAccount()
    const { cursor } = await changes(service, acme)
    const page = await changes(service, acme, { since: cursor, wait: 1 })
    expect(page).toEqual({ data: [], meta: { count: 0, more: false }, cursor })
  })

  it('with a filter does not return for other records, but moves its cursor', async () => {
    const acme = await newAccount()
    const filter = 'name=yes'
    const { cursor } = await changes(service, acme, { filter })
    const waiting = changes(service, acme, { filter, since: cursor, wait: 30 })
    await untilChecked()
    await write(client, acme, { upsert: { 2: 'no' } })
    await untilChecked()
    await write(client, acme, { upsert: { 3: 'yes' } })
    expect(summary(await waiting)).toEqual(['created 3 @3'])

    const short = changes(service, acme, { filter, since: cursor, wait: 1, limit: 1 })
    expect(summary(await short)).toEqual(['created 3 @3'])
  })

  it('gets 410 if its cursor expires while it waits', async () => {
    const acme = await newAccount()
    const { cursor } = await changes(service, acme)
    const waiting = service.request(acme, 'GET', changesUrl({ since: cursor, wait: 30 }))
    await untilChecked()
    // A write of another program, which may have deleted records.
    await client.query(`update tally set version = version + 1 where account_id = $1`, [acme.accountId])
    expect((await waiting).status).toBe(410)
  })

  it('of a client that disconnects frees its slot', async () => {
    const acme = await newAccount()
    const { cursor } = await changes(service, acme)
    const waiting = Array.from({ length: limits.feedWaitersMax }, (_, i) =>
      open(acme, changesUrl({ since: cursor, wait: 30 }), { 'x-request-id': `left-${i}` }),
    )
    const full = () => service.request(acme, 'GET', changesUrl({ since: cursor, wait: 1 }))
    await untilWaiting(limits.feedWaitersMax)
    const { body, headers } = await full()
    expect(body).toMatchObject({ code: 'feed_limit', status: 429 })
    expect(headers.get('retry-after')).toBe('10')
    // Without wait there is no limit.
    expect((await changes(service, acme, { since: cursor })).data).toEqual([])
    for (const opened of waiting) opened.destroy()
    await eventually(() => waiting.every((_, i) => reported(`left-${i}`).length === 1))
    expect(reported('left-0')).toEqual([[499, 'client_disconnected']])
    await untilWaiting(0)
    expect((await full()).status).toBe(200)
  })

  it('of an account with many gives way to an account with few', async () => {
    const [large, small] = [await newAccount(), await newAccount()]
    const { cursor } = await changes(service, large)
    const waiting = Array.from({ length: limits.feedWaitersMax }, () =>
      open(large, changesUrl({ since: cursor, wait: 30 })),
    )
    const ended = Promise.race(waiting.map(pageOf))
    await untilWaiting(limits.feedWaitersMax)
    expect((await service.request(large, 'GET', changesUrl({ since: cursor, wait: 1 }))).status).toBe(429)
    const other = await changes(service, small, { since: 'now', wait: 1 })
    expect(other.data).toEqual([])
    expect(await ended).toMatchObject([200, { data: [], cursor }])
    for (const opened of waiting) opened.destroy()
  })

  it('of many different filters of one account get the change, although their reads exceed its concurrency limit', async () => {
    const many = await startTestService(url, {}, { feedCheckMs: 100 })
    const acme = await newAccount()
    const filters = Array.from({ length: 60 }, (_, i) => `name!=other${i}`)
    const waiting: Promise<[number | undefined, ChangesPage]>[] = []
    // The first reads are not part of the wait, so they are sent in groups that the limit allows.
    for (let i = 0; i < filters.length; i += 10) {
      const group = filters.slice(i, i + 10)
      const cursors = await Promise.all(group.map((filter) => changes(many, acme, { filter, since: 'now' })))
      waiting.push(
        ...group.map((filter, k) =>
          pageOf(open(acme, changesUrl({ filter, since: cursors[k]?.cursor ?? '', wait: 30 }), {}, many)),
        ),
      )
      await untilChecked(many)
    }
    await write(client, acme, { upsert: { 5: 'five' } })
    const results = await Promise.all(waiting)
    expect(results.map(([status, page]) => [status, summary(page)])).toEqual(
      filters.map(() => [200, ['created 5 @2']]),
    )
    await many.close()
  })

  it('is not part of the duration of the request', async () => {
    const acme = await newAccount()
    await service.request(acme, 'GET', changesUrl({ since: 'now', wait: 1 }), {
      headers: { 'x-request-id': 'duration' },
    })
    await eventually(() => reported('duration').length === 1)
    const event = service.events.find(
      (one) => one.kind === 'request-completed' && one.requestId === 'duration',
    )
    expect(event).toMatchObject({ status: 200, context: { waitedMs: expect.any(Number) } })
    if (event?.kind !== 'request-completed') throw new Error('not reported')
    expect(event.context?.waitedMs).toBeGreaterThan(900)
  })

  it('ends with 401 when its key is revoked', async () => {
    const acme = await newAccount()
    const waiting = service.request(acme, 'GET', changesUrl({ since: 'now', wait: 30 }))
    await untilChecked()
    await client.query('update api_key set revoked_at = now() where account_id = $1', [acme.accountId])
    const { status, body } = await waiting
    expect([status, body]).toMatchObject([401, { code: 'unauthenticated' }])
  })
})

interface Event {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string | undefined
  readonly comment: string | undefined
}

/** Reads events as they arrive. */
async function* eventsOf(response: IncomingMessage): AsyncGenerator<Event> {
  let rest = ''
  for await (const chunk of response) {
    const blocks = (rest + String(chunk)).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const field = (name: string) =>
        block
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2)
      yield { id: field('id'), event: field('event'), data: field('data'), comment: field('') }
    }
  }
}

const accept = 'text/event-stream'

async function stream(
  acme: TestAccount,
  path = changesPath,
  headers: Record<string, string> = {},
  of = service,
): Promise<{ response: IncomingMessage; events: AsyncGenerator<Event>; opened: ClientRequest }> {
  const opened = open(acme, path, { accept, ...headers }, of)
  const response = await responseTo(opened)
  return { response, events: eventsOf(response), opened }
}

async function nextChanges(events: AsyncGenerator<Event>): Promise<[string[], string]> {
  for (;;) {
    const { value, done } = await events.next()
    if (done === true) throw new Error('the stream has ended')
    if (value.event !== 'changes') continue
    const page: ChangesPage = JSON.parse(value.data ?? '')
    expect(value.id).toBe(page.cursor)
    return [summary(page), page.cursor]
  }
}

describe('a stream', () => {
  it('sends changes with their cursor, and resumes after the last one', async () => {
    const acme = await newAccount()
    const { response, events, opened } = await stream(acme, changesUrl({ fields: 'name' }))
    expect(response.statusCode).toBe(200)
    expect(response.headers).toMatchObject({
      'content-type': accept,
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    const [first, cursor] = await nextChanges(events)
    expect(first).toEqual(['created 1 @1'])
    await write(client, acme, { upsert: { 2: 'line\nfeed' } })
    expect((await nextChanges(events))[0]).toEqual(['created 2 @2'])
    await write(client, acme, { delete: [1] })
    expect((await nextChanges(events))[0]).toEqual(['deleted 1 @3'])
    opened.destroy()

    // A client that reconnects sends the first URL again.
    const again = await stream(acme, changesUrl({ since: 'now' }), { 'last-event-id': cursor })
    expect((await nextChanges(again.events))[0]).toEqual(['created 2 @2', 'deleted 1 @3'])
    again.opened.destroy()
  })

  it('sends pages of the limit', async () => {
    const acme = await newAccount()
    await write(client, acme, { upsert: { 2: 'two', 3: 'three' } })
    const { events, opened } = await stream(acme, changesUrl({ limit: 2 }))
    expect((await nextChanges(events))[0]).toEqual(['created 1 @1', 'created 2 @2'])
    expect((await nextChanges(events))[0]).toEqual(['created 3 @2'])
    opened.destroy()
  })

  it('sends heartbeats with the cursor', async () => {
    const acme = await newAccount()
    const { cursor } = await changes(service, acme)
    const { events, opened } = await stream(acme, changesUrl({ since: cursor }))
    for (let i = 0; i < 3; i++) {
      const { value } = await events.next()
      expect(value).toEqual({ id: cursor, event: undefined, data: undefined, comment: 'heartbeat' })
    }
    opened.destroy()
  })

  it('ends when its key is revoked', async () => {
    const acme = await newAccount()
    const { events } = await stream(acme, changesUrl({ since: 'now' }))
    await client.query('update api_key set revoked_at = now() where account_id = $1', [acme.accountId])
    const problems: (string | undefined)[] = []
    for await (const { event, data } of events) if (event === 'problem') problems.push(data)
    expect(problems).toEqual([expect.stringContaining('"code":"unauthenticated"')])
  })

  it('ends with a problem when its cursor expires', async () => {
    const acme = await newAccount()
    const { events } = await stream(acme, changesUrl({ since: 'now' }))
    await events.next()
    await client.query(`update tally set version = version + 1 where account_id = $1`, [acme.accountId])
    const problems: (string | undefined)[] = []
    for await (const { event, data } of events) if (event === 'problem') problems.push(data)
    expect(problems).toEqual([expect.stringContaining('"code":"cursor_expired"')])
  })

  it.each([
    ['wait=3', {}, 'parameter_not_for_stream', 'wait'],
    ['since=x', {}, 'cursor_invalid', 'since'],
    ['', { 'last-event-id': 'x' }, 'cursor_invalid', 'last-event-id'],
  ])('with %s and %o gets 400', async (query, headers, code, parameter) => {
    const acme = await newAccount()
    const [status, problem] = await pageOf(open(acme, `${changesPath}?${query}`, { accept, ...headers }))
    expect([status, problem]).toMatchObject([400, { errors: [{ code, parameter }] }])
  })

  it.each([
    ['text/event-stream', 'text/event-stream'],
    ['text/event-stream;q=0.5, application/json', 'application/json; charset=utf-8'],
    ['text/event-stream;q=0', 'application/json; charset=utf-8'],
    ['text/*', 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
  ])('is the response to Accept: %s only if that prefers it (%s)', async (header, type) => {
    const acme = await newAccount()
    const opened = open(acme, changesPath, { accept: header })
    expect((await responseTo(opened)).headers['content-type']).toBe(type)
    opened.destroy()
  })

  it('of a client that does not read takes no more than one page', async () => {
    const acme = await newAccount()
    const wide = 'x'.repeat(500)
    const ids = Array.from({ length: 20_000 }, (_, i) => i + 1)
    await write(client, acme, { upsert: Object.fromEntries(ids.map((id) => [id, wide])) })
    const pagesRead = () =>
      service.events.filter((event) => event.kind === 'statement-ended' && event.operation === 'changes')
        .length
    const before = pagesRead()
    const { response, opened } = await stream(acme, changesUrl({ limit: 1000 }))
    response.pause()
    const socket = await new Promise<number>((resolve) => setTimeout(() => resolve(pagesRead()), 2_000))
    // 20 pages of 700 KB: the kernel's socket buffers take some of them, and then the stream stops reading.
    expect(socket - before).toBeLessThan(20)
    response.resume()
    let received = 0
    for await (const { data } of eventsOf(response)) {
      const page: ChangesPage = JSON.parse(data ?? '{"meta":{"count":0}}')
      received += page.meta.count
      if (received === ids.length) break
    }
    expect(received).toBe(ids.length)
    opened.destroy()
  })
})

describe('the end of the process', () => {
  it.each([
    ['closes', (stopping: TestService) => stopping.close()],
    // It has no other connections, so it does not need this time.
    ['drains', (stopping: TestService) => stopping.drain(3_600_000)],
  ])('that %s ends long polls with an empty page, and streams', async (_, stop) => {
    const stopping = await startTestService(url, {}, { ...limits, shutdownMsMax: 60_000 })
    const acme = await newAccount()
    const [, { cursor }] = await pageOf(open(acme, changesPath, {}, stopping))
    const poll = pageOf(open(acme, changesUrl({ since: cursor, wait: 30 }), {}, stopping))
    const { events } = await stream(acme, changesUrl({ since: cursor }), {}, stopping)
    await untilChecked(stopping)
    const closed = stop(stopping)
    expect(await poll).toMatchObject([200, { data: [], cursor }])
    for await (const { event } of events) expect(event).toBeUndefined()
    await closed
  })

  it('a stream ends after its time', async () => {
    const short = await startTestService(url, {}, { ...limits, feedStreamMsMax: 500 })
    const acme = await newAccount()
    const { events } = await stream(acme, changesPath, {}, short)
    expect((await nextChanges(events))[0]).toEqual(['created 1 @1'])
    for await (const { event } of events) expect(event).toBeUndefined()
    await short.close()
  })
})
