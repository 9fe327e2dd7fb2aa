import { expect, it, vi } from 'vitest'

vi.stubGlobal('sessionStorage', { getItem: () => null })
const { csvCounter, ndjsonCounter } = await import('./export.ts')
const { serverTimingOf } = await import('../server-timing.ts')

const bytes = (text: string) => new TextEncoder().encode(text)

it('counts the records of a CSV, also with line ends in texts and in chunks', () => {
  const counter = csvCounter()
  const text = 'id,name\r\n1,"a\nb"\r\n2,"say ""hi"""\r\n'
  for (const char of text) counter.add(bytes(char))
  expect(counter.records()).toBe(2)
  expect(counter.isComplete()).toBe(true)
})

it('knows that NDJSON without its end marker is truncated', () => {
  const counter = ndjsonCounter()
  counter.add(bytes('{"id":1}\n{"id":2}\n'))
  expect([counter.records(), counter.isComplete()]).toEqual([2, false])
  counter.add(bytes('{"$end":{"count":2,'))
  counter.add(bytes('"version":"a-1"}}\n'))
  expect([counter.records(), counter.isComplete()]).toEqual([2, true])
})

it('parses Server-Timing', () => {
  expect(serverTimingOf('auth;dur=0.4, read;dur=2.1, total;dur=3, source;desc="read"')).toEqual({
    timings: [
      { name: 'auth', ms: 0.4 },
      { name: 'read', ms: 2.1 },
      { name: 'total', ms: 3 },
    ],
    source: 'read',
  })
  expect(serverTimingOf(undefined)).toEqual({ timings: [], source: undefined })
})
