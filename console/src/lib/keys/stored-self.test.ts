import { expect, it } from 'vitest'
import { landingOf } from './stored-self.ts'

const landing = (...scopes: string[]) => landingOf({ scopes })[1]

it('begins with a list that the key may read', () => {
  expect(landing('product:read', 'partner:read')).toBe('/products')
  expect(landing('partner:write', 'company:read')).toBe('/companies')
  expect(landing('account:manage')).toBe('/keys')
  expect(landingOf(undefined)[1]).toBe('/products')
})
