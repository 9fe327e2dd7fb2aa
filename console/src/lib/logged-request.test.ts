import { expect, it } from 'vitest'
import { browseTarget, explanation } from './logged-request.ts'

const row = {
  path: '/api/v1/inventory/product',
  query: 'limit=50&page=2&fields=id,name',
  filter: 'name*bolt&active=true',
  status: 200,
  duration_ms: 420.5,
  records: 50,
  bytes: 8410,
  cached: false,
  error_code: null,
  error_detail: null,
}

it('leads to the page with the same list', () => {
  expect(browseTarget(row)).toEqual({
    to: '/products',
    search: { limit: '50', page: '2', fields: 'id,name', filter: 'name*bolt&active=true' },
  })
})

it('leads to the record', () => {
  expect(browseTarget({ ...row, path: '/api/v1/resources/partner/7', query: null, filter: null })).toEqual({
    to: '/partners',
    search: { record: '7' },
  })
  expect(browseTarget({ ...row, path: '/manage/v1/keys' })).toBeUndefined()
})

it('explains why a request was slow', () => {
  const text = explanation(row).join(' ')
  expect(text).toContain('Took 420.5 ms to read 50 records')
  expect(text).toContain('searches within texts')
  expect(explanation({ ...row, cached: true })[0]).toContain('Nothing was read')
  expect(explanation({ ...row, status: 400, error_code: 'request_invalid', error_detail: 'Bad.' })).toEqual([
    'Rejected with 400 request_invalid: Bad.',
  ])
})
