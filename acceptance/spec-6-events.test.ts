import { expect, test } from 'vitest'
import { problemIn, send } from './client.ts'

test('[6-1] there are no events, callbacks or notifications to subscribe to', async () => {
  for (const path of ['events', 'webhooks', 'callbacks', 'notifications', 'resources/webhook']) {
    expect(problemIn(await send(`/api/v1/${path}`), 404).code).toBe('path_unknown')
  }
})
