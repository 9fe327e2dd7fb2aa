import { afterEach, describe, expect, it, vi } from 'vitest'
import { firstListOf } from '../lib/records/first-list.ts'

/** The package is not built for unit tests. */
vi.mock('@quartermaster/client', () => import('../../../client/src/index.ts'))

const list = { data: [], meta: { count: 0, total: 0 }, pagination: { currentPage: 1 } }

/** Opens a page: evaluates the early script, then sends the request of the page. Returns the URLs that were requested. */
async function open(address: string, key: string | null = 'qm_key'): Promise<string[]> {
  const urls: string[] = []
  vi.resetModules()
  vi.stubGlobal('location', new URL(address, 'https://acme.example.com'))
  vi.stubGlobal('sessionStorage', {
    getItem: (name: string) => (name === 'quartermaster.key' ? key : null),
  })
  vi.stubGlobal('fetch', async (url: string | URL) => {
    urls.push(String(url).replace(location.origin, ''))
    const response = Response.json(list)
    Object.defineProperty(response, 'url', { value: String(new URL(url, location.origin)) })
    return response
  })
  await import('../send-first-request.ts')
  const { readList } = await import('./read.ts')
  const first = firstListOf(location)
  if (first !== undefined && key !== null) await readList(first.name, first.parameters)
  return urls
}

afterEach(() => vi.unstubAllGlobals())

describe('the first request of a page', () => {
  it('is sent once, as the application would send it', async () => {
    const products = '/api/v1/inventory/product'
    expect(await open('/console/products')).toEqual([`${products}?limit=50`])
    expect(await open('/console')).toEqual([`${products}?limit=50`])
    expect(await open('/console/products?limit=10&page=3&filter=name*b%26id>5&fields=id,name')).toEqual([
      `${products}?fields=id%2Cname&filter=name*b%26id%3E5&page=3&limit=10`,
    ])
    const [keys, ...more] = await open('/console/keys?filter=state=active')
    expect(keys).toMatch(/^\/manage\/v1\/keys\?fields=name%2C.*&filter=state%3Dactive&limit=50$/)
    expect(more).toEqual([])
  })

  it('is not sent without a key, and on pages without a list', async () => {
    expect(await open('/console/products', null)).toEqual([])
    expect(await open('/console/usage')).toEqual([])
    expect(await open('/console/products?colour=red')).toEqual([])
  })

  it('does not answer another request', async () => {
    const urls = await open('/console/products')
    const { readList } = await import('./read.ts')
    await readList('product', { limit: '50' })
    await readList('partner', { limit: '50' })
    expect(urls).toHaveLength(3)
  })
})
