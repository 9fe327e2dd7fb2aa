import type { FastifyReply } from 'fastify'

/** Aborted if the client disconnects before the response is sent. */
export function clientSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    // 'close' is emitted after every response. abort() creates an error with a stack, the most expensive part of a signal.
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}
