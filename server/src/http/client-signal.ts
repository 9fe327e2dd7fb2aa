import type { FastifyReply } from 'fastify'

/** Aborted when the client disconnects before it has its response. */
export function clientSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    // Every response closes. Aborting makes an error with a stack, which costs more than the rest of the signal.
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}
