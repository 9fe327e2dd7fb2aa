import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Event } from './events.ts'
import { logTo } from './logger.ts'

let lines: Record<string, unknown>[]

const logged = (level = 'info') => {
  lines = []
  return logTo(level, { write: (line: string) => void lines.push(JSON.parse(line)) })
}

const answered: Event = {
  kind: 'request-completed',
  requestId: 'r1',
  method: 'GET',
  route: '/api/v1/inventory/product',
  status: 200,
  ms: 1.235,
  source: 'cached',
  access: { accountId: '12', keyId: 'zzkeyzz' },
  url: '/api/v1/inventory/product?filter=name*zzsecretzz',
  bytes: 1,
  context: {
    code: undefined,
    detail: undefined,
    records: 1,
    source: 'cached',
    form: undefined,
    checkMs: 1,
    storeAt: undefined,
    storeMs: undefined,
  },
  traceparent: undefined,
}

const failed = (requestId: string, code: 'database_unavailable' | 'internal'): Event => ({
  kind: 'request-failed',
  requestId,
  code,
  cause: new Error('connect ECONNREFUSED'),
})

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('a request is one line', () => {
  logged().emit(answered)
  expect(lines).toEqual([
    {
      level: 30,
      time: expect.any(String),
      requestId: 'r1',
      method: 'GET',
      route: '/api/v1/inventory/product',
      status: 200,
      ms: 1.235,
      source: 'cached',
      msg: 'request-completed',
    },
  ])
})

it('what is below the level is not written', () => {
  const log = logged('warn')
  log.emit(answered)
  log.emit({ kind: 'keys-verified', keys: 3 })
  expect(lines).toEqual([])
})

it('of failures of one kind the first ten are written, then how many more they were', () => {
  const log = logged()
  for (let i = 0; i < 1_000; i++) log.emit(failed(`r${i}`, 'database_unavailable'))
  log.emit(failed('other', 'internal'))
  expect(lines.map(({ requestId }) => requestId)).toEqual([
    ...Array.from({ length: 10 }, (_, i) => `r${i}`),
    'other',
  ])
  expect(lines[0]).toMatchObject({ level: 50, code: 'database_unavailable', cause: 'connect ECONNREFUSED' })
  vi.advanceTimersByTime(10_000)
  expect(lines.slice(11)).toEqual([
    {
      level: 50,
      time: expect.any(String),
      code: 'database_unavailable',
      more: 990,
      seconds: 10,
      msg: 'request-failed',
    },
  ])
  log.emit(failed('later', 'database_unavailable'))
  expect(lines.at(-1)).toMatchObject({ requestId: 'later' })
})
