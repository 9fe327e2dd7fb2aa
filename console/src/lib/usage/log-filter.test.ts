import { expect, it } from 'vitest'
import { logFilterOf } from './log-filter.ts'

const range = { fromMs: Date.UTC(2026, 10, 16, 9), toMs: Date.UTC(2026, 10, 16, 10) }

it('selects the requests of a key and route in the log', () => {
  expect(logFilterOf({ ...range, key: undefined, route: undefined })).toBe(
    'at>=2026-11-16T09:00:00Z&at<2026-11-16T10:00:00Z',
  )
  expect(logFilterOf({ ...range, key: 'gJwFtp3y', route: 'GET /api/v1/inventory/product' })).toContain(
    'key_id="gJwFtp3y"&method=GET&path="/api/v1/inventory/product"',
  )
  expect(logFilterOf({ ...range, key: undefined, route: 'GET /api/v1/inventory/product/{id}' })).toContain(
    'method=GET&path*"/api/v1/inventory/product/"',
  )
})
