import { type Filter, print } from '@quartermaster/filter'
import { type Fixture, startFixture } from '../changes/fixture.ts'
import { product } from '../changes/products.ts'
import { type Change, changesSoFar } from '../changes/recorded-changes.ts'
import { type WriterKind, writeOnce, writerKinds } from '../changes/writers.ts'
import type { Check, Context } from '../check.ts'
import { type HttpResponse, headersFor } from '../client.ts'
import { lineOf, type OwnSet, randomOwnSet } from '../fields/own-fields.ts'
import { evaluate } from '../filter-proof/evaluate.ts'
import { randomFilter } from '../filter-proof/filters.ts'
import type { PlainRecord } from '../filter-proof/schema.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { compareSummaries, differenceFrom } from './compare-summaries.ts'
import { queryOf, randomSummary, type SummaryRequest, summarize } from './summarize.ts'

const smallRowsCount = 150
/** Every third set has more records than a small account, for which the statements differ, and than groups of a summary. */
const largeRowsCount = 1_200
const largeEvery = 3
const summariesOfSet = 50
const readers = 4
const requestsCount = 16
/** Below the maximum, because records with further groups are written. */
const groupsMax = 500

/**
 * Summaries of random fields, and summaries at two processes while others write in every way, equal those of the evaluator: the
 * latter by the recorded changes up to the version of each response.
 */
export const summaryExact: Check = {
  name: 'summary_exact',
  bound: '0 different',
  async run(context) {
    const fixture = await startFixture(context)
    context.atEnd(() => fixture.stop())
    const sets = await compareSets(context, fixture)
    const written = await compareWhileWriting(context, fixture)
    const faults = [...sets.faults, ...written.faults]
    return {
      value: `${faults.length} of ${grouped(sets.compared + written.compared)}`,
      samples: Math.min(sets.compared, written.compared),
      ok: faults.length === 0 && written.versions > 1,
      note: [
        `seed ${context.seed}, ${grouped(sets.groups)} groups of random fields`,
        `${written.writes}; summaries at ${written.versions} versions`,
        ...faults.slice(0, 10),
      ].join('\n'),
    }
  },
}

async function compareSets(context: Context, { service, client, ports }: Fixture) {
  const sets = context.size(300, 3)
  const progress = context.progress('sets of fields', sets)
  const faults: string[] = []
  let [compared, groups] = [0, 0]
  for (let n = 0; n < sets; n++) {
    const random = new Random(context.seed, 34, n)
    const isLarge = n % largeEvery === 0
    const set = randomOwnSet(random, isLarge ? largeRowsCount : smallRowsCount)
    const name = `set-${n}`
    const headers = headersFor(name, await service.account(name))
    const send = (path: string, type?: string, body?: string) =>
      client.sendUntilAccepted({
        port: random.pick(ports),
        path,
        headers: [...headers, ...(type === undefined ? [] : ['Content-Type', type])],
        ...(body === undefined ? {} : { method: 'POST', body }),
      })
    await write(set, send)
    const result = await compareSummaries(set, random, summariesOfSet, (query) =>
      send(`${set.resource.path}/summary?${query}`),
    )
    faults.push(...result.faults.map((fault) => `#${n} ${fault}`))
    compared += result.compared
    groups += result.groups
    progress.step()
  }
  progress.end()
  return { compared, groups, faults }
}

async function write(
  { resource, own, rows }: OwnSet,
  send: (path: string, type: string, body: string) => Promise<HttpResponse>,
): Promise<void> {
  for (const { name, type } of own) {
    const body = JSON.stringify({ resource: resource.name, name, type })
    const { status, text } = await send('/manage/v1/fields', 'application/json', body)
    if (status !== 201) throw new Error(`${status} ${text.slice(0, 500)}`)
  }
  const lines = rows.map((row) => `${lineOf(resource, row)}\n`).join('')
  const { text } = await send(`${resource.path}/batch`, 'application/x-ndjson', lines)
  if (!text.includes(`"inserted":${rows.length}`)) throw new Error(`not inserted: ${text.slice(0, 500)}`)
}

interface Asked {
  readonly filter: Filter | undefined
  readonly request: SummaryRequest
}

interface Seen {
  readonly asked: number
  readonly version: number
  readonly response: HttpResponse
}

async function compareWhileWriting(context: Context, fixture: Fixture) {
  const requests = await chooseRequests(context, fixture)
  const count = context.size(10_000, 60)
  const progress = context.progress('summaries while others write', count)
  const seen: Seen[] = []
  const isOver = () => seen.length >= count
  const writes = await whileWriting(context, fixture, isOver, async (reader) => {
    const random = new Random(context.seed, 35, reader)
    while (!isOver()) {
      seen.push(await readSummary(fixture, requests, random))
      progress.step()
    }
  })
  progress.end()
  const faults = compare(requests, await changesSoFar(fixture.ownerUrl, fixture.account), seen)
  return {
    compared: seen.length,
    faults,
    versions: new Set(seen.map(({ version }) => version)).size,
    writes: Object.entries(writes)
      .map(([kind, times]) => `${kind} ${times}`)
      .join(', '),
  }
}

/** Half of them without a filter. */
async function chooseRequests(context: Context, fixture: Fixture): Promise<Asked[]> {
  const records = (await changesSoFar(fixture.ownerUrl, fixture.account)).flatMap(({ record }) =>
    record === null ? [] : [record],
  )
  const chosen: Asked[] = []
  for (let n = 0; chosen.length < requestsCount; n++) {
    const random = new Random(context.seed, 36, n)
    const filter = n % 2 === 0 ? undefined : randomFilter(random, product, records.slice(0, 500))
    if (filter !== undefined && print(filter).length > 2000) continue
    const request = randomSummary(random, product)
    const matching = filter === undefined ? records : evaluate(filter, product, records)
    const expected = summarize({ ...request, fields: { sum: [], min: [], max: [], avg: [] } }, matching)
    if (typeof expected === 'string' && expected.split('"group"').length <= groupsMax)
      chosen.push({ filter, request })
  }
  return chosen
}

async function whileWriting(
  context: Context,
  fixture: Fixture,
  isOver: () => boolean,
  read: (reader: number) => Promise<void>,
): Promise<Record<WriterKind, number>> {
  const writes = { create: 0, patch: 0, delete: 0, batch: 0, import: 0, replace: 0 }
  const failed = new AbortController()
  const writing = writerKinds.map(async (kind, at) => {
    const random = new Random(context.seed, 37, at)
    // At least once each, even if the summaries are read faster.
    while (!failed.signal.aborted && (!isOver() || writes[kind] === 0)) {
      if (await writeOnce(kind, fixture, random)) writes[kind] += 1
    }
  })
  const reading = Array.from({ length: readers }, (_, reader) => read(reader))
  for (const task of [...writing, ...reading]) task.catch(() => failed.abort())
  const outcomes = await Promise.allSettled([...reading, ...writing])
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  return writes
}

async function readSummary(
  { client, ports, account, key }: Fixture,
  requests: readonly Asked[],
  random: Random,
): Promise<Seen> {
  const asked = random.integer(0, requests.length - 1)
  const { filter, request } = requests[asked] ?? {}
  if (request === undefined) throw new Error(`no request ${asked}`)
  const response = await client.sendUntilAccepted({
    port: random.pick(ports),
    path: `${product.path}/summary?${queryOf(random, request, filter && print(filter))}`,
    headers: headersFor(account, key),
  })
  const version = /^W\/"[0-9a-f]+-(\d+)-/.exec(String(response.headers['etag']))?.[1]
  if (version === undefined) throw new Error(`${response.status} ${response.text.slice(0, 300)}`)
  return { asked, version: Number(version), response }
}

/** Replays the changes, and judges each summary at its version. */
function compare(requests: readonly Asked[], recorded: readonly Change[], seen: readonly Seen[]): string[] {
  const matching = requests.map(() => new Map<string, PlainRecord>())
  const faults: string[] = []
  let at = 0
  for (const { asked, version, response } of seen.toSorted((a, b) => a.version - b.version)) {
    for (; at < recorded.length && (recorded[at]?.version ?? 0) <= version; at++) {
      const { id, record } = recorded[at] ?? { id: '', record: null }
      for (const [n, { filter }] of requests.entries()) {
        const matches =
          record !== null && (filter === undefined || evaluate(filter, product, [record]).length === 1)
        if (matches) matching[n]?.set(id, record)
        else matching[n]?.delete(id)
      }
    }
    const { filter, request } = requests[asked] ?? {}
    if (request === undefined) continue
    const expected = summarize(request, [...(matching[asked]?.values() ?? [])])
    const fault = differenceFrom(expected, response)
    if (fault !== undefined) faults.push(`${filter && print(filter)} at ${version}: ${fault}`)
  }
  return faults
}
