import { expect, it } from 'vitest'
import type { Event } from '../load/messages.ts'
import { wrongReadiness } from './readiness.ts'

const second = (at: number, ready: number, status: number): Event[] =>
  [0, 500].flatMap((ms): Event[] => [
    { at: at * 1000 + ms, ms: 5, kind: 'ready', server: 's1', status: ready },
    ...Array.from(
      { length: 5 },
      (_, n): Event => ({ at: at * 1000 + ms + n, ms: 5, kind: 'list', server: 's1', status }),
    ),
  ])

it('measures how long a server is ready while requests fail', () => {
  const events = [
    second(1, 200, 200),
    second(2, 200, 503),
    second(3, 200, 503),
    second(4, 503, 503),
    second(5, 200, 200),
  ]
  expect(wrongReadiness(events.flat())).toMatchObject({ readyMs: 2_000, unreadyMs: 0 })
})

it('measures how long a server is not ready while requests are served', () => {
  const events = [second(1, 503, 503), second(2, 503, 200), second(3, 200, 200)]
  expect(wrongReadiness(events.flat())).toMatchObject({ readyMs: 0, unreadyMs: 1_000 })
})
