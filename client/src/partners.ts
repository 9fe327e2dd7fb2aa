import { UnexpectedResponse } from './errors.ts'
import { Resource } from './resource.ts'
import { type CallOptions, jsonOf } from './sender.ts'
import type { NewPartner, Partner, PartnerKinds } from './wire.ts'

export interface CreateOptions extends CallOptions {
  /**
   * The same key and fields create one partner, however often they are sent within 24 hours. By default each call
   * generates a key, which makes its retries safe. Pass your own, such as an order number, to be safe across restarts
   * of your program.
   */
  readonly idempotencyKey?: string | undefined
}

/** Customers, vendors and employees. */
export class Partners extends Resource<Partner, PartnerKinds> {
  /** Creates a partner: exactly one, even if the request is retried. */
  async create(partner: NewPartner, options: CreateOptions = {}): Promise<{ id: number }> {
    const { idempotencyKey = randomKey(), signal, timeoutMs } = options
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    }
    const call = {
      path: this.path,
      body: JSON.stringify(partner),
      parameters: {},
      headers,
      signal,
      timeoutMs,
    }
    const reply = await this.sender.send({ ...call, method: 'POST' })
    return { id: idOf(jsonOf(reply), reply.requestId) }
  }
}

/** Accepts both response bodies of the specification: `{"data":{"id":123}}` and `123`. */
function idOf(
  body: { readonly data?: { readonly id?: unknown } | null } | number | null,
  requestId: string | undefined,
): number {
  const id = typeof body === 'number' ? body : body?.data?.id
  if (typeof id === 'number') return id
  const message = 'The response to the create has no id.'
  throw new UnexpectedResponse({ status: 201, code: 'response_unexpected', message, requestId })
}

/** Not crypto.randomUUID, which browsers offer only on pages loaded over HTTPS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
