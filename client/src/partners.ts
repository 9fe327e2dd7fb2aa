import { UnexpectedAnswer } from './errors.ts'
import { Resource } from './resource.ts'
import { type CallOptions, jsonOf } from './sender.ts'
import type { NewPartner, Partner, PartnerKinds } from './wire.ts'

export interface CreateOptions extends CallOptions {
  /**
   * The same key and name create one partner, however often they are sent within 24 hours. Where none is given, each
   * call has one of its own: its retries are safe. Give your own, such as an order number, to be safe over restarts.
   */
  readonly idempotencyKey?: string | undefined
}

/** Customers, vendors and employees. */
export class Partners extends Resource<Partner, PartnerKinds> {
  /** Creates a partner, exactly once however often it has to be sent. */
  async create({ name }: NewPartner, options: CreateOptions = {}): Promise<{ id: number }> {
    const { idempotencyKey = randomKey(), signal, timeoutMs } = options
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    }
    const call = {
      path: this.path,
      body: JSON.stringify({ name }),
      parameters: {},
      headers,
      signal,
      timeoutMs,
    }
    const reply = await this.sender.send({ ...call, method: 'POST' })
    return { id: idOf(jsonOf(reply), reply.requestId) }
  }
}

/** Both envelopes of the specification: `{"data":{"id":123}}`, and the bare `123`. */
function idOf(
  body: { readonly data?: { readonly id?: unknown } | null } | number | null,
  requestId: string | undefined,
): number {
  const id = typeof body === 'number' ? body : body?.data?.id
  if (typeof id === 'number') return id
  const message = 'The answer to the create has no id in it.'
  throw new UnexpectedAnswer({ status: 201, code: 'answer_unexpected', message, requestId })
}

/** crypto.randomUUID is missing on pages that were not loaded over HTTPS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
