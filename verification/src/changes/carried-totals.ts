import { type Filter, print } from '@quartermaster/filter'
import { limits } from '../../../server/src/limits/limits.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check, Context } from '../check.ts'
import { headersFor } from '../client.ts'
import { evaluate } from '../filter-proof/evaluate.ts'
import { randomFilter } from '../filter-proof/filters.ts'
import type { PlainRecord } from '../filter-proof/schema.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { product } from './products.ts'
import { type Change, changesSoFar } from './recorded-changes.ts'
import { type WriterKind, writeOnce, writerKinds } from './writers.ts'

interface Seen {
  readonly filter: number
  readonly page: number
  readonly version: number
  readonly total: number
  readonly ids: readonly string[]
}

const broadFilters = 16
const anyFilters = 4
const readers = 4
const pageLimit = 100

/** Totals of lists while others write in every way, compared with what the recorded changes give at the version of each response. */
export const carriedTotals: Check = {
  name: 'carried_totals',
  bound: '= 0 wrong',
  async run(context) {
    const fixture = await startFixture(context)
    try {
      const filters = await chooseFilters(context, fixture)
      const seen: Seen[] = []
      const comparisons = context.size(10_000, 200)
      const progress = context.progress('lists', comparisons)
      const isOver = () => seen.length >= comparisons
      const writes = await whileWriting(context, fixture, isOver, () =>
        Promise.all(
          Array.from({ length: readers }, async (_, reader) => {
            const random = new Random(context.seed, 61, reader)
            while (!isOver()) {
              seen.push(await readList(fixture, filters, random))
              progress.step()
            }
          }),
        ),
      )
      progress.end()
      const wrong = compare(filters, await changesSoFar(fixture.ownerUrl, fixture.account), seen)
      const written = Object.entries(writes).map(([kind, count]) => `${kind} ${count}`)
      const versions = new Set(seen.map(({ version }) => version)).size
      return {
        value: `${wrong.length} wrong of ${grouped(seen.length)}`,
        samples: seen.length,
        ok: wrong.length === 0 && Object.values(writes).every((count) => count > 0),
        note: [`writes: ${written.join(', ')}; lists at ${versions} versions`, ...wrong.slice(0, 5)].join(
          '\n',
        ),
      }
    } finally {
      await fixture.stop()
    }
  },
}

/** Writes without a journal, and a journal whose images were removed: every total must be counted again. */
export const carriedHoles: Check = {
  name: 'carried_holes',
  bound: '= all recounted',
  async run(context) {
    const fixture = await startFixture(context)
    try {
      const filters = await chooseFilters(context, fixture)
      const random = new Random(context.seed, 63)
      const seen: Seen[] = []
      const rounds = context.size(200, 5)
      const progress = context.progress('gaps', rounds)
      for (let n = 0; n < rounds; n++) {
        for (let filter = 0; filter < broadFilters; filter++) await readList(fixture, filters, random, filter)
        await writeOnce(random.pick(['patch', 'batch', 'create'] as const), fixture, random)
        await makeGap(fixture, n % 2 === 0, random)
        for (let filter = 0; filter < broadFilters; filter++)
          seen.push(await readList(fixture, filters, random, filter))
        progress.step()
      }
      progress.end()
      const wrong = compare(filters, await changesSoFar(fixture.ownerUrl, fixture.account), seen)
      const right = seen.length - wrong.length
      return {
        value: `${grouped(right)} of ${grouped(seen.length)}`,
        samples: seen.length,
        ok: wrong.length === 0,
        note: wrong.slice(0, 5).join('\n'),
      }
    } finally {
      await fixture.stop()
    }
  },
}

/** Changes 50 products without images and increments the version, as a program that knows nothing of the journal would. */
async function makeGap({ ownerUrl }: Fixture, isTrimmed: boolean, random: Random): Promise<void> {
  await withClient(ownerUrl, async (client) => {
    await client.query('begin')
    const from = random.integer(1, 30_000)
    await client.query(
      `update product p set active = not active, version = t.version + 1 from tally t
        where t.account_id = p.account_id and t.resource = 'product' and p.id between $1 and $1 + 50`,
      [from],
    )
    // As a tick, so that only the missing images reveal the gap; or as a foreign write.
    const writer = isTrimmed ? ', writer_xid = pg_current_xact_id()::xid' : ''
    await client.query(`update tally set version = version + 1${writer} where resource = 'product'`)
    await client.query('commit')
  })
}

async function whileWriting(
  context: Context,
  fixture: Fixture,
  isOver: () => boolean,
  work: () => Promise<unknown>,
): Promise<Record<WriterKind, number>> {
  const writes = { create: 0, patch: 0, delete: 0, batch: 0, import: 0, replace: 0 }
  const failed = new AbortController()
  const writing = writerKinds.map(async (kind, at) => {
    const random = new Random(context.seed, 62, at)
    // At least once each, even if the lists are read faster.
    while (!failed.signal.aborted && (!isOver() || writes[kind] === 0)) {
      if (await writeOnce(kind, fixture, random)) writes[kind] += 1
    }
  })
  for (const task of writing) task.catch(() => failed.abort())
  const outcomes = await Promise.allSettled([work(), ...writing])
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  return writes
}

/** Most of them with more matches than the sort threshold: only those totals are carried. */
async function chooseFilters(context: Context, fixture: Fixture): Promise<Filter[]> {
  const first = await changesSoFar(fixture.ownerUrl, fixture.account)
  const records = first.flatMap(({ record }) => (record === null ? [] : [record]))
  const broad: Filter[] = []
  const any: Filter[] = []
  for (let n = 0; broad.length < broadFilters; n++) {
    const filter = randomFilter(new Random(context.seed, 64, n), product, records.slice(0, 500))
    if (print(filter).length > 2000) continue
    if (evaluate(filter, product, records).length > limits.filterSortRecordsMax + 1000) broad.push(filter)
    else if (any.length < anyFilters) any.push(filter)
  }
  return [...broad, ...any]
}

async function readList(
  { client, ports, account, key }: Fixture,
  filters: readonly Filter[],
  random: Random,
  filter = random.integer(0, filters.length - 1),
): Promise<Seen> {
  const page = random.chance(0.3) ? 1 : random.integer(1, 220)
  const text = textOf(filters, filter)
  const response = await client.sendUntilAccepted({
    port: random.pick(ports),
    path: `${product.path}?fields=id&limit=${pageLimit}&page=${page}&filter=${encodeURIComponent(text)}`,
    headers: headersFor(account, key),
  })
  if (response.status !== 200) throw new Error(`${text}: ${response.status} ${response.text.slice(0, 300)}`)
  const { data, meta }: { data: { id: number }[]; meta: { total: number } } = JSON.parse(response.text)
  const version = /^W\/"[0-9a-f]+-(\d+)-/.exec(String(response.headers['etag']))?.[1]
  if (version === undefined) throw new Error(`no version in the ETag ${String(response.headers['etag'])}`)
  return { filter, page, version: Number(version), total: meta.total, ids: data.map(({ id }) => String(id)) }
}

function textOf(filters: readonly Filter[], index: number): string {
  const filter = filters[index]
  if (filter === undefined) throw new Error(`no filter ${index}`)
  return print(filter)
}

/** Replays the changes, and judges each list at its version. */
function compare(filters: readonly Filter[], recorded: readonly Change[], seen: readonly Seen[]): string[] {
  const records = new Map<string, PlainRecord>()
  const matching = filters.map(() => new Set<string>())
  const wrong: string[] = []
  let at = 0
  for (const list of seen.toSorted((a, b) => a.version - b.version)) {
    for (; at < recorded.length && (recorded[at]?.version ?? 0) <= list.version; at++) {
      const { id, record } = recorded[at] ?? { id: '', record: null }
      if (record === null) records.delete(id)
      else records.set(id, record)
      for (const [n, filter] of filters.entries()) {
        const matches = record !== null && evaluate(filter, product, [record]).length === 1
        if (matches) matching[n]?.add(id)
        else matching[n]?.delete(id)
      }
    }
    const fault = faultOf(list, matching[list.filter] ?? new Set())
    if (fault !== undefined)
      wrong.push(`${textOf(filters, list.filter)} page ${list.page} at ${list.version}: ${fault}`)
  }
  return wrong
}

function faultOf({ page, total, ids }: Seen, matching: ReadonlySet<string>): string | undefined {
  if (matching.size !== total) return `total ${total}, but ${matching.size} match`
  // Sorting all matches for every list would take most of the time of the check.
  if (page % 5 !== 0) return undefined
  const expected = [...matching]
    .map(Number)
    .toSorted((a, b) => a - b)
    .slice((page - 1) * pageLimit, page * pageLimit)
  return expected.join() === ids.join() ? undefined : `ids ${ids.join()} instead of ${expected.join()}`
}
