import { expect, it } from 'vitest'
import { outcomeOf, requestLines, resultOf } from './delivery.ts'

it('says how a delivery ended, why, and what to do', () => {
  expect(outcomeOf({ status: 204, error: null, duration_ms: 48.2 })).toEqual({
    tone: 'ok',
    title: 'Delivered with 204 in 48 ms',
    lines: [],
  })
  expect(outcomeOf({ status: 401, error: 'status', duration_ms: 3 })).toMatchObject({
    tone: 'bad',
    title: 'Failed: the receiver responded with 401 after 3.0 ms',
    lines: [expect.stringContaining('secret')],
  })
  expect(outcomeOf({ status: null, error: 'timeout', duration_ms: 15_000 }).lines).toEqual([
    'The receiver did not respond in time.',
    'Respond first, and process the message afterwards.',
  ])
})

it.each([
  [302, 'Redirects are not followed'],
  [404, 'Check the URL'],
  [410, 'disabled'],
  [502, 'The receiver failed'],
  [422, 'rejected'],
])('has advice for status %i', (status, text) => {
  expect(outcomeOf({ status, error: 'status', duration_ms: 1 }).lines[0]).toContain(text)
})

it('shows the headers of an attempt, with the second in which it was sent', () => {
  const row = {
    at: '2026-11-14T09:30:00.500Z',
    message_id: 'msg_1',
    status: 500,
    error: 'status',
    duration_ms: '700.5',
  }
  expect(requestLines(row, 'https://example.com/hook').split('\n')).toEqual([
    'POST https://example.com/hook',
    'content-type: application/json; charset=utf-8',
    'webhook-id: msg_1',
    `webhook-timestamp: ${Date.parse('2026-11-14T09:29:59Z') / 1000}`,
    'webhook-signature: v1,…',
  ])
  expect(resultOf(row)).toEqual({ status: 500, error: 'status', duration_ms: 700.5 })
})
