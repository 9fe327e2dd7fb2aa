import { limits } from './limits.ts'
import { listCall } from './list-call.ts'
import { randomText } from './random-text.ts'
import {
  type GetOptions,
  type ListBody,
  type ListOptions,
  type Names,
  namesOf,
  type Page,
  type Selected,
  textOf,
} from './resource.ts'
import { type Call, type CallOptions, jsonOf, type Sender } from './sender.ts'
import {
  type Audit,
  type AuditKinds,
  type Delivery,
  type DeliveryKinds,
  type Field,
  type FieldKinds,
  type Key,
  type KeyKinds,
  type KeyRotation,
  type NewKey,
  type NewKeyRequest,
  type NewWebhookRequest,
  paths,
  type Request,
  type RequestKinds,
  type Self,
  type Usage,
  type UsageKinds,
  type Webhook,
  type WebhookChange,
  type WebhookKinds,
  type WebhookReplay,
  type WebhookSecret,
  type WebhookTest,
} from './wire.ts'
import type { CreateOptions } from './writable-resource.ts'

/** A page of a list for administrators, which has no version: it is never cached. */
export type ViewPage<R> = Omit<Page<R>, 'version'>

export interface ViewOptions<R, K, F> extends ListOptions<R, K, F> {
  /** Only for usage: whether each entry is for a day, the default, or for a minute. */
  readonly per?: 'day' | 'minute' | undefined
}

/** What a method sends besides its path. */
type Rest = Pick<Call, 'onceOnly'> & {
  readonly method?: Call['method']
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** A list for administrators. R: an entry; K: the kind of each field. */
export class View<R, K> {
  readonly #sender: Sender
  readonly #path: string

  constructor(sender: Sender, path: string) {
    this.#sender = sender
    this.#path = path
  }

  /** One page of the matching entries, newest first. New entries move others to later pages: add a condition on the time. */
  async list<const F extends Names<R> | undefined = undefined>(
    options: ViewOptions<R, K, F> = {},
  ): Promise<ViewPage<Selected<R, F>>> {
    const { page, limit, per } = options
    const query = {
      fields: namesOf(options.fields)?.join(),
      filter: textOf(options.filter),
      page,
      limit,
      per,
    }
    const reply = await this.#sender.send(listCall(this.#path, query, json, options))
    const { data, meta, pagination }: ListBody<Selected<R, F>> = jsonOf(reply)
    return { data, meta, pagination, requestId: reply.requestId }
  }

  protected async one<F extends Names<R> | undefined>(
    id: string,
    options: GetOptions<F>,
  ): Promise<Selected<R, F>> {
    const query = { fields: namesOf(options.fields)?.join() }
    const { data }: { data: Selected<R, F> } = jsonOf(
      await this.#sender.send(listCall(this.#path + pathOf(id), query, json, options)),
    )
    return data
  }

  /** Sends a write, and returns `data` of the response. The caller declares its type. */
  protected async write(
    path: string,
    { signal, timeoutMs }: CallOptions,
    { method = 'POST', body, headers, ...rest }: Rest = {},
  ): Promise<ReturnType<typeof JSON.parse>> {
    const reply = await this.#sender.send({
      ...rest,
      signal,
      timeoutMs,
      method,
      path: this.#path + path,
      parameters: {},
      headers: { accept: json, ...headers, ...(body === undefined ? {} : { 'content-type': json }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return reply.body === '' ? undefined : jsonOf(reply).data
  }
}

export class Keys extends View<Key, KeyKinds> {
  /** Throws NotFound if the account has no such key. */
  async get<const F extends Names<Key> | undefined = undefined>(
    keyId: string,
    options: GetOptions<F> = {},
  ): Promise<Selected<Key, F>> {
    return await this.one(keyId, options)
  }

  /**
   * Creates one key, even if the request is retried. Only this response has the key itself. If it is lost, the retry throws Conflict
   * with the code `key_already_created` and the id of the key: revoke that key, and create another.
   */
  async create(key: NewKeyRequest, options: CreateOptions = {}): Promise<NewKey> {
    const { idempotencyKey = randomText(limits.idempotencyKeyBytes) } = options
    return await this.write('', options, { body: key, headers: { 'idempotency-key': idempotencyKey } })
  }

  /** Replaces a key. A retry after a lost response throws Conflict with the code `key_not_active`, and names the new key's id. */
  async rotate(keyId: string, rotation: KeyRotation, options: CallOptions = {}): Promise<NewKey> {
    return await this.write(`${pathOf(keyId)}/rotate`, options, { body: rotation })
  }

  /** From the next request on, the key is rejected. Revoking it again changes nothing. */
  async revoke(keyId: string, options: CallOptions = {}): Promise<Key> {
    return await this.write(`${pathOf(keyId)}/revoke`, options)
  }
}

/**
 * `create`, `rotate` and `delete` are retried only if the service has refused them: a second webhook, or a second new secret, would
 * not be harmless. If one fails without a response, list the webhooks.
 */
export class Webhooks extends View<Webhook, WebhookKinds> {
  /** Throws NotFound if the account has no such webhook. */
  async get<const F extends Names<Webhook> | undefined = undefined>(
    id: string,
    options: GetOptions<F> = {},
  ): Promise<Selected<Webhook, F>> {
    return await this.one(id, options)
  }

  /** The response has the secret with which the receiver verifies messages. Nothing is sent before `activate`. */
  async create(webhook: NewWebhookRequest, options: CallOptions = {}): Promise<WebhookSecret> {
    return await this.write('', options, { body: webhook, onceOnly: true })
  }

  /** After a change of its URL, a webhook must be activated again. */
  async change(id: string, change: WebhookChange, options: CallOptions = {}): Promise<Webhook> {
    return await this.write(pathOf(id), options, { method: 'PATCH', body: change })
  }

  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.write(pathOf(id), options, { method: 'DELETE', onceOnly: true })
  }

  /** Sends a challenge, and begins or resumes if the receiver returns it. Otherwise throws Conflict with the code `webhook_unverified`. */
  async activate(id: string, options: CallOptions = {}): Promise<Webhook> {
    return await this.write(`${pathOf(id)}/activate`, options)
  }

  /** Nothing is sent before the webhook is activated again. */
  async pause(id: string, options: CallOptions = {}): Promise<Webhook> {
    return await this.write(`${pathOf(id)}/pause`, options)
  }

  /** Returns a new secret. For a day messages have a signature by the old one, too: pass both to `verifyWebhook`. */
  async rotate(id: string, options: CallOptions = {}): Promise<WebhookSecret> {
    return await this.write(`${pathOf(id)}/rotate`, options, { onceOnly: true })
  }

  /** Sends the changes after another position again, as they are now. */
  async replay(id: string, replay: WebhookReplay, options: CallOptions = {}): Promise<Webhook> {
    return await this.write(`${pathOf(id)}/replay`, options, { body: replay })
  }

  /** Sends a test message, and returns what the receiver responded. */
  async test(id: string, options: CallOptions = {}): Promise<WebhookTest> {
    return await this.write(`${pathOf(id)}/test`, options)
  }
}

/** A field to declare. Without `type`, a field of the service that becomes unique. */
export interface NewField {
  readonly resource: 'product' | 'partner' | 'company'
  /** `x_` and lowercase letters, digits and `_`. */
  readonly name: string
  readonly type?: 'text' | 'integer' | 'decimal' | 'boolean' | 'timestamp'
  readonly label?: string
  readonly unique?: boolean
}

/** The fields that the account has declared. */
export class DeclaredFields extends View<Field, FieldKinds> {
  /** Throws Conflict with the code `field_exists` if the name is in use. */
  async create(field: NewField, options: CallOptions = {}): Promise<Field> {
    return await this.write('', options, { body: field, onceOnly: true })
  }
}

/** What `/manage/v1` offers to an administrator of the account. */
export class Manage {
  readonly keys: Keys
  readonly webhooks: Webhooks
  readonly fields: DeclaredFields
  /** What was sent to the webhooks in the last 14 days. */
  readonly deliveries: View<Delivery, DeliveryKinds>
  /** Numbers and durations of requests by key and route. */
  readonly usage: View<Usage, UsageKinds>
  /** The request log of the last 14 days. */
  readonly requests: View<Request, RequestKinds>
  /** Every change of the account, its keys and its webhooks. */
  readonly audit: View<Audit, AuditKinds>

  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
    this.keys = new Keys(sender, paths.key)
    this.webhooks = new Webhooks(sender, paths.webhook)
    this.fields = new DeclaredFields(sender, paths.field)
    this.deliveries = new View(sender, paths.delivery)
    this.usage = new View(sender, paths.usage)
    this.requests = new View(sender, paths.request)
    this.audit = new View(sender, paths.audit)
  }

  /** The key that this client uses: its account, name, scopes and expiry. Needs no scope. */
  async self(options: CallOptions = {}): Promise<Self> {
    const { data }: { data: Self } = jsonOf(
      await this.#sender.send(listCall('/manage/v1/self', {}, json, options)),
    )
    return data
  }
}

const json = 'application/json'

/** A text with another character would be another path. */
function pathOf(id: string): string {
  if (/^[\w-]+$/.test(id)) return `/${id}`
  throw new TypeError(`${JSON.stringify(id)} is not the id of a key or webhook.`)
}
