import type { FastifyReply } from 'fastify'
import { HangUp } from '../store/hang-up.ts'

/** Goes up when the client closes its connection before it is answered. */
export function hangUpOf(reply: FastifyReply): HangUp {
  const hangUp = new HangUp()
  reply.raw.once('close', () => hangUp.up())
  return hangUp
}
