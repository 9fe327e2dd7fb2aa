import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Event } from './events.ts'
import { logTo } from './logger.ts'

let lines: Record<string, unknown>[]

const logAt = (level = 'info') => {
  lines = []
  return logTo(level, { write: (line: string) => void lines.push(JSON.parse(line)) })
}

const completed: Event = {
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
    verificationStartedAt: undefined,
    verificationMs: 1,
    databaseStartedAt: undefined,
    databaseMs: undefined,
    waitedMs: 0,
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

it('writes one line for each request', () => {
  logAt().emit(completed)
  expect(lines).toEqual([
    {
      level: 'info',
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

it('writes the name of the level', () => {
  const log = logAt('debug')
  log.emit({ kind: 'keys-verified', keys: 3 })
  log.emit({ kind: 'primary-changed', timeline: '2' })
  expect(lines.map(({ level }) => level)).toEqual(['debug', 'warn'])
})

it('does not write events below the level', () => {
  const log = logAt('warn')
  log.emit(completed)
  log.emit({ kind: 'keys-verified', keys: 3 })
  expect(lines).toEqual([])
})

it('writes the first ten failures of one kind, then a line with the number of the others', () => {
  const log = logAt()
  for (let i = 0; i < 1_000; i++) log.emit(failed(`r${i}`, 'database_unavailable'))
  log.emit(failed('other', 'internal'))
  expect(lines.map(({ requestId }) => requestId)).toEqual([
    ...Array.from({ length: 10 }, (_, i) => `r${i}`),
    'other',
  ])
  expect(lines[0]).toMatchObject({
    level: 'error',
    code: 'database_unavailable',
    cause: 'connect ECONNREFUSED',
  })
  vi.advanceTimersByTime(10_000)
  expect(lines.slice(11)).toEqual([
    {
      level: 'error',
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
