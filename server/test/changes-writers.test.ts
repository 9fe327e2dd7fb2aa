import { expect, it } from 'vitest'
import { importRecords } from '../src/import/import-records.ts'
import { type Change, type ChangesPage, changes, changesPath } from './changes-fixture.ts'
import { account, connected, freshDatabase, type TestAccount } from './database.ts'
import { startTestService, type TestService } from './service.ts'

/** The feed of everything that writes: imports, and creates, changes and deletions over HTTP, concurrently. */

const products = '/api/v1/inventory/product'

const url = await freshDatabase()
const client = await connected(url)
const services = [await startTestService(url), await startTestService(url)]

const anyService = (n: number): TestService => {
  const service = services[n % services.length]
  if (service === undefined) throw new Error('no service')
  return service
}

/** A copy that a client keeps by the feed, each page from another process. */
class Copy {
  readonly records = new Map<number, string>()
  readonly #account: TestAccount
  readonly #filter: string | undefined
  #since: string | undefined
  #pages = 0
  readonly kinds: Record<string, number> = {}

  constructor(of: TestAccount, filter?: string) {
    this.#account = of
    this.#filter = filter
  }

  async read(limit: number): Promise<ChangesPage> {
    const page = await changes(anyService(++this.#pages), this.#account, {
      limit,
      fields: 'name',
      ...(this.#filter === undefined ? {} : { filter: this.#filter }),
      ...(this.#since === undefined ? {} : { since: this.#since }),
    })
    for (const change of page.data) this.#apply(change)
    this.#since = page.cursor
    return page
  }

  async catchUp(limit: number): Promise<void> {
    while ((await this.read(limit)).meta.more);
  }

  #apply({ change, id, record }: Change): void {
    this.kinds[change] = (this.kinds[change] ?? 0) + 1
    if (record === undefined) this.records.delete(id)
    else this.records.set(id, record.name)
  }

  async difference(condition = 'true'): Promise<unknown[]> {
    const { rows } = await client.query<{ id: string; name: string }>(
      `select id, name from product where account_id = $1 and ${condition}`,
      [this.#account.accountId],
    )
    const table = new Map(rows.map(({ id, name }) => [Number(id), name]))
    const wrong = [...table].filter(([id, name]) => this.records.get(id) !== name)
    return [...wrong, ...[...this.records.keys()].filter((id) => !table.has(id))]
  }
}

it('imports: batches of 10,000 rows of one version, changes, and deletions by replacing', async () => {
  const acme = await account(client, 'imported')
  const ids = Array.from({ length: 11_000 }, (_, i) => i + 1)
  const load = (records: readonly { id: number; name: string }[], replace = false) =>
    importRecords({ ownerUrl: url, account: 'imported', resource: 'product', records, replace })
  await load(ids.map((id) => ({ id, name: `p${id}` })))
  const copy = new Copy(acme)
  await copy.read(1000)
  // While the client reads from the beginning: every tenth changes, and every seventh is deleted.
  await load(
    ids.filter((id) => id % 7 !== 0).map((id) => ({ id, name: id % 10 === 0 ? `changed ${id}` : `p${id}` })),
    true,
  )
  await copy.catchUp(1000)
  expect(await copy.difference()).toEqual([])
  const remaining = ids.filter((id) => id % 7 !== 0)
  const changed = remaining.filter((id) => id % 10 === 0)
  expect(copy.kinds).toEqual({
    // The first page, and what was neither on it nor changed or deleted since.
    created: 1000 + remaining.filter((id) => id > 1000 && id % 10 !== 0).length,
    // Whether the client has received a changed record before is not known.
    updated: changed.length,
    deleted: ids.length - remaining.length,
  })
  const settled = { ...copy.kinds }
  await load([{ id: 1, name: 'p1' }])
  await copy.catchUp(1000)
  expect(copy.kinds).toEqual(settled)
})

it('writes over HTTP and imports at the same time, read through two processes', async () => {
  const acme = await account(client, 'busy')
  const writers = new AbortController()
  const writer = async (n: number) => {
    for (let i = 0; i < 25; i++) {
      const service = anyService(n + i)
      const created = await service.post(acme, products, { name: `w${n}-${i}` })
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a test fails if it is not true
      const { id } = (created.body as { data: { id: number } }).data
      const headers = { 'content-type': 'application/merge-patch+json' }
      const body = JSON.stringify({ name: `changed ${n}-${i}` })
      if (i % 3 === 0) await service.request(acme, 'PATCH', `${products}/${id}`, { headers, body })
      if (i % 4 === 0) await service.request(acme, 'DELETE', `${products}/${id}`)
    }
  }
  const importer = async () => {
    for (let i = 0; i < 6; i++) {
      const records = Array.from({ length: 40 }, (_, k) => ({
        id: 1 + ((k * 7 + i) % 60),
        name: `import ${i}-${k}`,
      }))
      await importRecords({ ownerUrl: url, account: 'busy', resource: 'product', records })
    }
  }
  const copies = [new Copy(acme), new Copy(acme, 'name*changed'), new Copy(acme, 'id<30')]
  const reader = async (copy: Copy, limit: number) => {
    while (!writers.signal.aborted) await copy.read(limit)
  }
  const reading = Promise.all(copies.map((copy, i) => reader(copy, 3 + 2 * i)))
  await Promise.all([writer(0), writer(1), writer(2), importer()])
  writers.abort()
  await reading
  for (const copy of copies) await copy.catchUp(50)
  expect(await copies[0]?.difference()).toEqual([])
  expect(await copies[1]?.difference("name ilike '%changed%'")).toEqual([])
  expect(await copies[2]?.difference('id < 30')).toEqual([])
  expect(copies[0]?.kinds).toMatchObject({ created: expect.any(Number), deleted: expect.any(Number) })
  // A process that was started later reads the same.
  const late = await startTestService(url)
  const again: Change[] = []
  for (let since: string | undefined; ; ) {
    const page = await changes(late, acme, { fields: 'name', ...(since === undefined ? {} : { since }) })
    again.push(...page.data)
    if (!page.meta.more) break
    since = page.cursor
  }
  await late.close()
  expect(new Map(again.map(({ id, record }) => [id, record?.name]))).toEqual(new Map(copies[0]?.records))
  expect((await anyService(0).request(acme, 'HEAD', changesPath)).status).toBe(200)
})
