import { lookup } from 'node:dns/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { BaseUrlInvalid, ConnectionFailed, NotFound, Quartermaster, UnexpectedAnswer } from './index.ts'

/** How failures are told apart, by a fetch that fails as Node's does. */

afterEach(() => vi.restoreAllMocks())

const failed = (code: string) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(`it is ${code}`), { code }) })

const empty = {
  data: [],
  meta: { count: 0, total: 0 },
  pagination: { previousPage: null, currentPage: 1, nextPage: null, totalPages: 0 },
}

/** Fails or answers by each outcome in turn; the last one is for all that follow. */
function client(...outcomes: readonly (TypeError | (() => Response))[]) {
  let sent = 0
  const fetch = async () => {
    const outcome = outcomes[Math.min(sent, outcomes.length - 1)]
    sent += 1
    if (typeof outcome !== 'function') throw outcome
    return outcome()
  }
  const qm = new Quartermaster({ baseUrl: 'https://acme.example.com', apiKey: 'qm_key', fetch })
  return { products: qm.products, sent: () => sent }
}

describe('a request without an answer', () => {
  it.each([
    ['ENOTFOUND', 'host_unknown'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_failed'],
    ['CERT_HAS_EXPIRED', 'tls_failed'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_failed'],
  ])('is not sent again after %s, which stays', async (why, code) => {
    const { products, sent } = client(failed(why))
    const list = products.list()
    await expect(list).rejects.toBeInstanceOf(ConnectionFailed)
    await expect(list).rejects.toMatchObject({ code })
    expect(sent()).toBe(1)
  })

  it.each(['EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET'])(
    'is sent again after %s, which may pass',
    async (why) => {
      vi.spyOn(Math, 'random').mockReturnValue(0)
      const { products, sent } = client(failed(why), () => Response.json(empty))
      expect((await products.list()).data).toEqual([])
      expect(sent()).toBe(2)
    },
  )

  it('is told as Node tells it: a name that does not exist, or a DNS server that does not answer', async () => {
    const hostname = 'no-such-host.invalid'
    const why = await lookup(hostname).catch(({ code }: { code: string }) => code)
    const nowhere = new Quartermaster({ baseUrl: `http://${hostname}`, apiKey: 'k', retryForMs: 0 })
    await expect(nowhere.products.list()).rejects.toMatchObject({
      code: why === 'ENOTFOUND' ? 'host_unknown' : 'connection_failed',
    })
  })
})

describe('a 404', () => {
  const problem = (body: object) => () =>
    Response.json(body, { status: 404, headers: { 'content-type': 'application/problem+json' } })
  const ours = (code: string) => problem({ status: 404, code, detail: 'So it is.', request_id: 'r-9' })

  it('is a missing record only where it says so', async () => {
    const get = (answer: () => Response) => client(answer).products.get(1)
    await expect(get(ours('record_unknown'))).rejects.toBeInstanceOf(NotFound)
    await expect(get(ours('path_unknown'))).rejects.toBeInstanceOf(BaseUrlInvalid)
    await expect(get(ours('learnt_later'))).rejects.toBeInstanceOf(BaseUrlInvalid)
    await expect(get(problem({ status: 404, title: 'Not Found' }))).rejects.toBeInstanceOf(UnexpectedAnswer)
    await expect(get(problem([]))).rejects.toBeInstanceOf(UnexpectedAnswer)
  })

  it('is not asked for with what is no id', async () => {
    const { products, sent } = client(ours('record_unknown'))
    await expect(products.get(Number.NaN)).rejects.toThrow('NaN is no id')
    // @ts-expect-error: what a caller without types may do; it would be the list.
    await expect(products.get('')).rejects.toBeInstanceOf(TypeError)
    expect(sent()).toBe(0)
  })
})
