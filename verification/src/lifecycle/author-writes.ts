import { type HttpResponse, headersFor } from '../client.ts'
import type { Random } from '../random.ts'
import type { RetryingSender } from '../retrying-sender.ts'
import type { AuthorModel } from './author-model.ts'

export interface WriterKey {
  readonly key: string
  readonly id: string
}

const products = '/api/v1/inventory/product'
const kinds = [
  'create',
  'patch',
  'patch',
  'same',
  'adjust',
  'upsert',
  'delete',
  'batch',
  'keyed batch',
] as const

/** Random writes of any key, each repeated until its outcome is known, with the model of what they did. */
export class Writer {
  readonly counts = new Map<string, number>()
  /** Responses that no write should get. */
  readonly failures: string[] = []
  written = 0
  readonly #sender: RetryingSender
  readonly #account: string
  readonly #model: AuthorModel
  /** The ids of records by their unique values. */
  readonly #skus = new Map<string, number>()
  #number = 0

  constructor(sender: RetryingSender, account: string, model: AuthorModel) {
    this.#sender = sender
    this.#account = account
    this.#model = model
  }

  async declareSku(by: WriterKey | undefined, random: Random): Promise<void> {
    if (by === undefined) throw new Error('no key')
    const field = { resource: 'product', name: 'x_sku', type: 'text', unique: true }
    const { status, text } = await this.#send(by, 'POST', '/manage/v1/fields', field, random)
    if (status !== 201) throw new Error(`x_sku was not declared: ${status} ${text}`)
  }

  async write(by: WriterKey, random: Random): Promise<void> {
    const kind = random.pick(kinds)
    if (kind === 'create') return await this.#create(by, random)
    if (kind === 'upsert') return await this.#upsert(by, random)
    const ids = this.#model.take(kind.endsWith('batch') ? random.integer(1, 12) : 1, random)
    try {
      if (kind.endsWith('batch')) return await this.#batch(by, ids, random, kind)
      const [id] = ids
      if (id === undefined) return await this.#create(by, random)
      await this.#change(by, id, kind, random)
    } finally {
      this.#model.release(ids)
    }
  }

  async #create(by: WriterKey, random: Random): Promise<void> {
    const { status, text } = await this.#send(by, 'POST', products, { name: this.#unique('new') }, random)
    if (!this.#expect('create', status, 201, text)) return
    this.#model.created(JSON.parse(text).data.id, by.id)
  }

  /** Creates a record by a new value, or changes the one that has the value. */
  async #upsert(by: WriterKey, random: Random): Promise<void> {
    const known = random.pick(['', ...this.#skus.keys()])
    const id = this.#skus.get(known)
    // Nobody else may write the record: the model would not know the order.
    const sku = id === undefined ? this.#unique('S') : known
    if (id !== undefined) this.#skus.delete(known)
    if (id !== undefined && !this.#model.reserve(id)) return await this.#create(by, random)
    const body = { name: this.#unique('upserted') }
    const { status, text } = await this.#send(by, 'PATCH', `${products}/x_sku/${sku}`, body, random)
    if (this.#expect('upsert', status, id === undefined ? 201 : 200, text)) {
      const written = JSON.parse(text).data.id
      if (id === undefined) this.#model.created(written, by.id)
      else this.#model.changed(id, by.id)
      this.#skus.set(sku, written)
    }
    if (id !== undefined) this.#model.release([id])
  }

  async #change(by: WriterKey, id: number, kind: string, random: Random): Promise<void> {
    const path = `${products}/${id}`
    if (kind === 'delete') {
      const { status, text } = await this.#send(by, 'DELETE', path, undefined, random)
      if (this.#expect(kind, status, 204, text)) this.#model.deleted(id, by.id)
      this.#forget(id)
    } else if (kind === 'adjust') {
      const { status, text } = await this.#send(by, 'POST', `${path}/adjust`, { qty_available: 1 }, random)
      if (this.#expect(kind, status, 200, text)) this.#model.changed(id, by.id)
    } else if (kind === 'same') {
      // Changes nothing, so it is no write.
      const { status, text } = await this.#send(by, 'PATCH', path, { is_rsd_product: null }, random)
      this.#expect(kind, status, 200, text)
    } else {
      const { status, text } = await this.#send(by, 'PATCH', path, { name: this.#unique('patched') }, random)
      if (this.#expect(kind, status, 200, text)) this.#model.changed(id, by.id)
    }
  }

  /** Changes and deletes records, and with `key` creates one. A batch that is repeated has the same author. */
  async #batch(by: WriterKey, ids: readonly number[], random: Random, kind: string): Promise<void> {
    if (kind === 'keyed batch') return await this.#keyedBatch(by, random)
    if (ids.length === 0) return await this.#create(by, random)
    const deleted = ids.filter(() => random.chance(0.2))
    const name = this.#unique('batch')
    const rows = ids.map((id) => (deleted.includes(id) ? { $delete: id } : { id, name }))
    const path = `${products}/batch?mode=update`
    const { status, text } = await this.#send(by, 'POST', path, { rows }, random)
    if (!this.#expect(kind, status, 200, text)) return
    for (const id of ids) {
      if (deleted.includes(id)) this.#model.deleted(id, by.id)
      else this.#model.changed(id, by.id)
    }
    for (const id of deleted) this.#forget(id)
  }

  async #keyedBatch(by: WriterKey, random: Random): Promise<void> {
    const sku = this.#unique('K')
    const rows = [
      { x_sku: sku, name: 'first' },
      { x_sku: sku, name: this.#unique('second') },
    ]
    const { status, text } = await this.#send(by, 'POST', `${products}/batch?key=x_sku`, { rows }, random)
    if (!this.#expect('keyed batch', status, 200, text)) return
    const read = await this.#send(by, 'GET', `${products}/x_sku/${sku}?fields=id`, undefined, random)
    if (this.#expect('read', read.status, 200, read.text))
      this.#model.created(JSON.parse(read.text).data.id, by.id)
  }

  /** A deleted record has no unique value any longer. */
  #forget(id: number): void {
    for (const [sku, of] of this.#skus) if (of === id) this.#skus.delete(sku)
  }

  #expect(kind: string, status: number, expected: number, text: string): boolean {
    if (status === expected && !/"rejected":\[\{/.test(text)) {
      this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
      if (kind !== 'read') this.written++
      return true
    }
    this.failures.push(`${kind}: ${status} ${text.slice(0, 300)}`)
    return false
  }

  #unique(prefix: string): string {
    return `${prefix}-${++this.#number}`
  }

  async #send(
    by: WriterKey,
    method: string,
    path: string,
    body: object | undefined,
    random: Random,
  ): Promise<HttpResponse> {
    const json = body === undefined ? [] : ['Content-Type', 'application/json']
    const isSingle = method !== 'GET' && !path.includes('/batch') && !path.startsWith('/manage')
    const once = isSingle ? ['Idempotency-Key', this.#unique('key')] : []
    return await this.#sender.send(
      {
        method,
        path,
        headers: [...headersFor(this.#account, by.key), ...json, ...once],
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      random,
    )
  }
}
