import { describe, expect, it } from 'vitest'
import type { Row } from '../../api/read.ts'
import { browseTarget, explanation, nearbyFilter } from './logged-request.ts'

const row: Row = {
  at: '2026-11-16T09:30:10.500Z',
  method: 'GET',
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

describe('browseTarget', () => {
  it('leads to the page with the same list', () => {
    expect(browseTarget(row)).toEqual({
      to: '/products',
      search: { limit: '50', page: '2', fields: 'id,name', filter: 'name*bolt&active=true' },
    })
    expect(browseTarget({ ...row, path: '/manage/v1/requests', query: null, filter: 'status>=400' })).toEqual(
      {
        to: '/requests',
        search: { filter: 'status>=400' },
      },
    )
  })

  it('leads to the record', () => {
    const partner = { ...row, path: '/api/v1/resources/partner/7', query: null, filter: null }
    expect(browseTarget(partner)).toEqual({ to: '/partners', search: { record: '7' } })
    expect(browseTarget({ ...partner, path: '/manage/v1/keys/Xq3ZpL0a/rotate' })).toEqual({
      to: '/keys',
      search: { record: 'Xq3ZpL0a' },
    })
    expect(browseTarget({ ...row, path: '/openapi.json' })).toBeUndefined()
  })
})

describe('explanation', () => {
  const linesOf = (more: Row) => explanation({ ...row, ...more }).lines.join(' ')

  it('of a rejected request has the error and what to do', () => {
    const failed = { status: 400, error_code: 'request_invalid', error_detail: 'Bad.', duration_ms: 1.2 }
    expect(explanation({ ...row, ...failed })).toEqual({
      tone: 'warn',
      title: 'Rejected with 400 request_invalid',
      lines: ['Bad.', 'Open it in the console to see the error at its position.'],
    })
    expect(explanation({ ...row, ...failed, status: 503, error_code: 'overloaded' }).tone).toBe('bad')
    expect(linesOf({ status: 499, error_code: 'client_disconnected' })).toContain('timeout may be too short')
  })

  it('of a cached response says that nothing was read', () => {
    expect(explanation({ ...row, cached: true, duration_ms: 0.4 })).toMatchObject({
      tone: 'ok',
      title: 'Fast: 0.4 ms, cached',
      lines: ['Nothing was read from the database: the response was cached.'],
    })
    expect(linesOf({ cached: true, status: 304 })).toContain("the client's copy was still current")
    expect(linesOf({ cached: true })).toContain('It still took 421 ms')
  })

  it('of a fast request says so', () => {
    expect(explanation({ ...row, duration_ms: 12 })).toMatchObject({ tone: 'ok', title: 'Not slow: 12 ms' })
    expect(linesOf({ duration_ms: 12 })).toContain('50 records were read, 8.4 KB sent.')
  })

  it('of a slow request names the cause', () => {
    expect(explanation(row)).toMatchObject({ tone: 'warn', title: 'Slow: 421 ms' })
    expect(linesOf({})).toContain('The total of a filter is counted once')
    expect(linesOf({ filter: 'active=true&name*qz' })).toContain('name*qz has fewer than 3 characters')
    expect(linesOf({ filter: 'name!*bolt' })).toContain('cannot use an index')
    expect(linesOf({ filter: null, query: 'limit=100&page=201' })).toContain('20,000 records come before it')
    expect(linesOf({ filter: null, records: 1000 })).toContain('The response is large')
    expect(linesOf({ filter: null, records: 40_000 })).toContain('an export of 40,000 records')
    expect(linesOf({ path: '/manage/v1/requests', filter: 'status>=400' })).toContain('Add a condition on at')
    expect(linesOf({ path: '/manage/v1/requests', filter: 'at>2026-11-16' })).not.toContain('Add a condition')
    expect(linesOf({ method: 'POST', filter: null, records: 1 })).toContain('committed')
    expect(linesOf({ filter: null, query: null })).toContain('Nothing in the request itself explains it')
  })

  it('does not fail on a filter that the log truncated', () => {
    expect(linesOf({ filter: 'name*"bol' })).toContain('Nothing in the request itself explains it')
  })
})

it('finds the requests at the same time', () => {
  expect(nearbyFilter(row)).toBe('at>=2026-11-16T09:30:08Z&at<=2026-11-16T09:30:12Z')
})
