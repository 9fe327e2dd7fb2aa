import type { FastifyReply } from 'fastify'

/** Aborted when the client disconnects before it has its response. */
export function clientSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  return controller.signal
}
