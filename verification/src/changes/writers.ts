import { importRecords } from '../../../server/src/import/import-records.ts'
import { type Client, type HttpResponse, headersFor } from '../client.ts'
import type { Random } from '../random.ts'
import { anyProduct, asJson, product } from './products.ts'

export interface Writing {
  readonly client: Client
  readonly ports: readonly number[]
  readonly ownerUrl: string
  readonly account: string
  readonly key: string
  /** The ids from 1 to this one existed at the beginning. */
  readonly records: number
}

export type WriterKind = 'create' | 'patch' | 'delete' | 'batch' | 'import' | 'replace'
export const writerKinds: readonly WriterKind[] = ['create', 'patch', 'delete', 'batch', 'import', 'replace']

/** Writes once. Returns false if there was nothing to write, such as a record that another writer has deleted. */
export async function writeOnce(kind: WriterKind, writing: Writing, random: Random): Promise<boolean> {
  switch (kind) {
    case 'create':
      return expectStatus(await send(writing, random, 'POST', '', asJson(anyProduct(random))), [201])
    case 'patch': {
      const [name, value] = random.pick(Object.entries(asJson(anyProduct(random))))
      return expectStatus(
        await send(writing, random, 'PATCH', `/${anyId(writing, random)}`, { [name]: value }),
        [200, 404],
      )
    }
    case 'delete':
      return expectStatus(await send(writing, random, 'DELETE', `/${anyId(writing, random)}`), [204, 404])
    case 'batch':
      return await writeBatch(writing, random)
    case 'import':
      await importRecords({
        ...importOf(writing),
        records: someProducts(writing, random, random.integer(1, 60)),
      })
      return true
    case 'replace':
      return await replaceSome(writing, random)
    default:
      return kind satisfies never
  }
}

async function writeBatch(writing: Writing, random: Random): Promise<boolean> {
  const lines = someProducts(writing, random, random.integer(1, 40)).map((record) =>
    JSON.stringify(random.chance(0.15) ? { $delete: record.id } : record),
  )
  const response = await writing.client.sendUntilAccepted({
    port: random.pick(writing.ports),
    method: 'POST',
    path: `${product.path}/batch`,
    headers: [...headersFor(writing.account, writing.key), 'Content-Type', 'application/x-ndjson'],
    body: `${lines.join('\n')}\n`,
  })
  // It waited too long for other writers, and wrote nothing: a batch of this size is one transaction.
  if (response.text.includes('"code":"overloaded"') || isUnconfirmed(response)) return false
  if (!response.text.includes('"$end"'))
    throw new Error(`batch: ${response.status} ${response.text.slice(0, 300)}`)
  return true
}

/** `import --replace` with all records but a few. Reads the present ones as an operator would, by an export. */
async function replaceSome(writing: Writing, random: Random): Promise<boolean> {
  const response = await writing.client.sendUntilAccepted({
    port: random.pick(writing.ports),
    path: product.path,
    headers: [...headersFor(writing.account, writing.key), 'Accept', 'application/x-ndjson'],
  })
  const records = response.text
    .split('\n')
    .filter((line) => line !== '' && !line.includes('"$end"'))
    .filter(() => !random.chance(0.002))
    .map((line): object => JSON.parse(line))
  if (records.length === 0) return false
  await importRecords({ ...importOf(writing), records, replace: true })
  return true
}

function importOf({ ownerUrl, account }: Writing) {
  return { ownerUrl, account, resource: 'product' } as const
}

function someProducts(writing: Writing, random: Random, count: number): { readonly id: number }[] {
  return Array.from({ length: count }, () => ({ id: anyId(writing, random), ...asJson(anyProduct(random)) }))
}

/** Mostly an id that exists; sometimes one of a record that was created or deleted since the beginning. */
function anyId({ records }: Writing, random: Random): number {
  return random.chance(0.7) ? random.integer(1, records) : random.integer(records + 1, records + 200)
}

async function send(
  { client, ports, account, key }: Writing,
  random: Random,
  method: string,
  path: string,
  body?: object,
): Promise<HttpResponse> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  return await client.sendUntilAccepted({
    port: random.pick(ports),
    method,
    path: product.path + path,
    headers: [...headersFor(account, key), ...(body === undefined ? [] : ['Content-Type', type])],
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

function expectStatus(response: HttpResponse, expected: readonly number[]): boolean {
  const { status, text } = response
  if (isUnconfirmed(response)) return false
  if (!expected.includes(status)) throw new Error(`${status} ${text.slice(0, 300)}`)
  return status < 300
}

/** On a busy machine, a commit may take longer than the service waits. The checks compare with the table, whatever was written. */
function isUnconfirmed({ text }: HttpResponse): boolean {
  return text.includes('"code":"outcome_unknown"')
}
