import { withClient } from '../../../../server/src/postgres/client.ts'
import { type Client, type HttpResponse, headersFor } from '../../client.ts'
import { partnerPath } from '../../fresh/read.ts'
import { waitUntil } from '../../wait-until.ts'

interface Partner {
  readonly id: number
  readonly name: string
}

interface Read {
  readonly path: string
  /** The records of the page and the total, from all partners in the order of their ids. */
  readonly expected: (all: readonly Partner[]) => { readonly data: unknown; readonly total?: number }
}

const page =
  (number: number, limit: number, matches: (partner: Partner) => boolean) => (all: readonly Partner[]) => {
    const found = all.filter(matches)
    return { data: found.slice((number - 1) * limit, number * limit), total: found.length }
  }

const reads: readonly Read[] = [
  { path: `${partnerPath}?fields=id,name`, expected: page(1, 10, () => true) },
  { path: `${partnerPath}?fields=id,name&limit=20&page=30`, expected: page(30, 20, () => true) },
  {
    path: `${partnerPath}?fields=id,name&limit=50&filter=${encodeURIComponent('name*"created"')}`,
    expected: page(1, 50, ({ name }) => name.includes('created')),
  },
  { path: `${partnerPath}/3?fields=id,name`, expected: (all) => ({ data: all.find(({ id }) => id === 3) }) },
]

interface Recorded {
  readonly path: string
  readonly etag: string
  readonly text: string
}

/**
 * Reads lists of one account from all processes, records every `ETag`, and compares later responses with SQL: a 304 is
 * false if the content differs from the response that had the `ETag`.
 */
export class ConditionalReads {
  readonly #client: Client
  readonly #ports: readonly number[]
  readonly #headers: readonly string[]
  readonly #account: string
  readonly #recorded: Recorded[] = []
  requests = 0
  stale = 0
  falseNotModified = 0
  readonly faults: string[] = []

  constructor(client: Client, ports: readonly number[], account: string, key: string) {
    this.#client = client
    this.#ports = ports
    this.#account = account
    this.#headers = headersFor(account, key)
  }

  /** Resolves when every process serves requests. */
  async available(): Promise<void> {
    for (const port of this.#ports) {
      await waitUntil(async () => (await this.#get(port, `${partnerPath}?fields=id`, [])).status === 200)
    }
  }

  /** Compares every list with the database of `url`, with and without all recorded ETags, and records the new ones. */
  async observe(label: string, url: string): Promise<void> {
    const all = await this.#partners(url)
    for (const port of this.#ports) {
      for (const { path, expected } of reads) {
        const before = this.#recorded.filter((one) => one.path === path)
        const plain = await this.#get(port, path, [])
        this.#compare(`${label}: ${path} at ${port}`, plain, expected(all))
        const tags = before.map(({ etag }) => etag)
        const conditional = await this.#get(port, path, ['If-None-Match', tags.join(', ') || '"none"'])
        if (conditional.status === 304) {
          const match = before.find(({ etag }) => etag === conditional.headers['etag'])
          if (match?.text !== plain.text) {
            this.falseNotModified += 1
            this.#fault(`${label}: false 304 of ${path} at ${port}`)
          }
        } else this.#compare(`${label}: ${path} at ${port}, conditional`, conditional, expected(all))
        this.#recorded.push({ path, etag: String(plain.headers['etag']), text: plain.text })
      }
    }
  }

  #compare(what: string, { status, text }: HttpResponse, expected: ReturnType<Read['expected']>): void {
    const body: { data?: unknown; meta?: { total?: number } } = status === 200 ? JSON.parse(text) : {}
    const shown = JSON.stringify([body.data, body.meta?.total])
    if (status === 200 && shown === JSON.stringify([expected.data, expected.total])) return
    this.stale += 1
    this.#fault(`${what}: ${status} ${text.slice(0, 200)}`)
  }

  async #partners(url: string): Promise<Partner[]> {
    return await withClient(url, async (client) => {
      const { rows } = await client.query<Partner>(
        `select id::float8 as id, name from partner
         where account_id = (select account_id from account where name = $1) order by id`,
        [this.#account],
      )
      return rows
    })
  }

  async #get(port: number, path: string, headers: readonly string[]): Promise<HttpResponse> {
    this.requests += 1
    return await this.#client.send({ port, path, headers: [...this.#headers, ...headers] })
  }

  #fault(what: string): void {
    if (this.faults.length < 10) this.faults.push(what)
  }
}
