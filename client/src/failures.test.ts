import { lookup } from 'node:dns/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  BaseUrlInvalid,
  Conflict,
  ConnectionFailed,
  IdempotencyConflict,
  NotFound,
  Quartermaster,
  UnexpectedResponse,
} from './index.ts'

/** How failures are classified, with a fetch that fails as Node's does. */

afterEach(() => vi.restoreAllMocks())

const failed = (code: string) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(`it is ${code}`), { code }) })

const empty = {
  data: [],
  meta: { count: 0, total: 0 },
  pagination: { previousPage: null, currentPage: 1, nextPage: null, totalPages: 0 },
}

/** A client whose fetch throws or returns one outcome per request; the last outcome repeats. */
function client(...outcomes: readonly (TypeError | (() => Response))[]) {
  let sent = 0
  const fetch = async () => {
    const outcome = outcomes[Math.min(sent, outcomes.length - 1)]
    sent += 1
    if (typeof outcome !== 'function') throw outcome
    return outcome()
  }
  const qm = new Quartermaster({ baseUrl: 'https://acme.example.com', apiKey: 'qm_key', fetch })
  return { products: qm.products, manage: qm.manage, sent: () => sent }
}

describe('a request without a response', () => {
  it.each([
    ['ENOTFOUND', 'host_unknown'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_failed'],
    ['CERT_HAS_EXPIRED', 'tls_failed'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_failed'],
  ])('is not retried after %s, which is permanent', async (why, code) => {
    const { products, sent } = client(failed(why))
    const list = products.list()
    await expect(list).rejects.toBeInstanceOf(ConnectionFailed)
    await expect(list).rejects.toMatchObject({ code })
    expect(sent()).toBe(1)
  })

  it.each(['EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET'])(
    'is retried after %s, which is temporary',
    async (why) => {
      vi.spyOn(Math, 'random').mockReturnValue(0)
      const { products, sent } = client(failed(why), () => Response.json(empty))
      expect((await products.list()).data).toEqual([])
      expect(sent()).toBe(2)
    },
  )

  it('has the code for an unknown host name, or for a DNS server that does not respond', async () => {
    const hostname = 'no-such-host.invalid'
    const dnsCode = await lookup(hostname).catch(({ code }: { code: string }) => code)
    const unresolvable = new Quartermaster({ baseUrl: `http://${hostname}`, apiKey: 'k', retryForMs: 0 })
    await expect(unresolvable.products.list()).rejects.toMatchObject({
      code: dnsCode === 'ENOTFOUND' ? 'host_unknown' : 'connection_failed',
    })
  })
})

const problemWith = (status: number, body: object) => () =>
  Response.json(body, { status, headers: { 'content-type': 'application/problem+json' } })
const problemOf = (status: number, code: string) =>
  problemWith(status, { status, code, detail: 'The detail.', request_id: 'r-9' })

describe('a 409', () => {
  it.each(['records_exhausted', 'key_already_created', 'added_later'])(
    'with the code %s is a conflict that a retry would meet again',
    async (code) => {
      const { products, sent } = client(problemOf(409, code))
      const creating = products.create({ name: 'Bolt' })
      await expect(creating).rejects.toBeInstanceOf(Conflict)
      await expect(creating).rejects.toMatchObject({ code })
      expect(sent()).toBe(1)
    },
  )

  it('is retried while the first attempt is running, and a 422 is not', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const created = () => Response.json({ data: { id: 5 } }, { status: 201 })
    const running = client(problemOf(409, 'idempotency_conflict'), created)
    expect(await running.products.create({ name: 'Bolt' })).toEqual({ id: 5 })
    const other = client(problemOf(422, 'idempotency_mismatch'))
    await expect(other.products.create({ name: 'Bolt' })).rejects.toBeInstanceOf(IdempotencyConflict)
    expect([running.sent(), other.sent()]).toEqual([2, 1])
  })
})

describe('a write that must not be repeated', () => {
  const webhook = { resource: 'product', url: 'https://example.com/hook' } as const
  const created = () => Response.json({ data: { id: 'wh_1', secret: 'whsec_' } }, { status: 201 })

  it.each([
    [429, 'account_busy'],
    [503, 'overloaded'],
    [503, 'database_unavailable'],
  ])('is retried after %i %s, which says that nothing was written', async (status, code) => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const { manage, sent } = client(problemOf(status, code), created)
    expect(await manage.webhooks.create(webhook)).toMatchObject({ id: 'wh_1' })
    expect(sent()).toBe(2)
  })

  it.each<[string, TypeError | (() => Response)]>([
    ['a broken connection', failed('ECONNRESET')],
    ['an unknown outcome', problemOf(503, 'outcome_unknown')],
    ["a proxy's 502", () => new Response('Bad Gateway', { status: 502 })],
    ["a proxy's 504", () => new Response('', { status: 504 })],
  ])('is not retried after %s', async (_, outcome) => {
    for (const send of [
      ({ manage }: ReturnType<typeof client>) => manage.webhooks.create(webhook),
      ({ manage }: ReturnType<typeof client>) => manage.webhooks.rotate('wh_1'),
      ({ manage }: ReturnType<typeof client>) => manage.webhooks.delete('wh_1'),
    ]) {
      const failing = client(outcome, created)
      await expect(send(failing)).rejects.toThrow()
      expect(failing.sent()).toBe(1)
    }
  })
})

describe('a 404', () => {
  const problem = (body: object) => problemWith(404, body)
  const ours = (code: string) => problemOf(404, code)

  it('throws NotFound only with the code record_unknown', async () => {
    const get = (response: () => Response) => client(response).products.get(1)
    await expect(get(ours('record_unknown'))).rejects.toBeInstanceOf(NotFound)
    await expect(get(ours('path_unknown'))).rejects.toBeInstanceOf(BaseUrlInvalid)
    await expect(get(ours('added_later'))).rejects.toBeInstanceOf(BaseUrlInvalid)
    await expect(get(problem({ status: 404, title: 'Not Found' }))).rejects.toBeInstanceOf(UnexpectedResponse)
    await expect(get(problem([]))).rejects.toBeInstanceOf(UnexpectedResponse)
  })

  it('cannot come from an invalid id, which is not sent', async () => {
    const { products, sent } = client(ours('record_unknown'))
    await expect(products.get(Number.NaN)).rejects.toThrow('NaN is not an id')
    // @ts-expect-error: a JavaScript caller could pass an empty id, which would request the list.
    await expect(products.get('')).rejects.toBeInstanceOf(TypeError)
    expect(sent()).toBe(0)
  })
})
