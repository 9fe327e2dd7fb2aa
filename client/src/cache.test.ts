import { expect, it } from 'vitest'
import { MemoryCache } from './cache.ts'

it('MemoryCache evicts the least recently used entry', () => {
  const cache = new MemoryCache({ charactersMax: 8 })
  const entry = (body: string) => ({ etag: 'e', body })
  cache.set('a', entry('11'))
  cache.set('b', entry('22'))
  cache.get('a')
  cache.set('c', entry('33'))
  expect([cache.get('a')?.body, cache.get('b'), cache.get('c')?.body]).toEqual(['11', undefined, '33'])
  cache.set('d', entry('far too long'))
  expect(cache.get('d')).toBeUndefined()
})
