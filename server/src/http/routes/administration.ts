import type { FastifyReply } from 'fastify'
import type { Actor } from '../../accounts/audit.ts'
import type { Access } from '../../accounts/verifications.ts'
import type { Transaction } from '../../postgres/transaction.ts'
import { parseNoParameters } from '../../query/list-request.ts'
import { accessFor } from '../plugins/authenticate.ts'
import { actorOf, clientSignal, rawQueryOf } from '../plugins/request-context.ts'
import type { RouteParts, RouteRequest } from './route.ts'

/** What a request of an administrator needs to change a key or a webhook. */
export interface Administration {
  readonly access: Access
  readonly actor: Actor
  readonly id: string
  readonly write: <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>
}

export function administrationOf(
  request: RouteRequest,
  reply: FastifyReply,
  { writes, authentication }: RouteParts,
): Administration {
  const access = accessFor(request)
  parseNoParameters(rawQueryOf(request))
  return {
    access,
    actor: actorOf(request, access, authentication.trustedProxies),
    id: request.params.id,
    write: (work) => writes.run(access, clientSignal(reply), (database) => database.write(work)),
  }
}
