import { defaultLimits } from '../../../server/src/limits/passed-limits.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check } from '../check.ts'
import { Client, type HttpResponse, headersFor } from '../client.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'
import { waitUntil } from '../wait-until.ts'
import { compareOwnSet, lineOf, type OwnSet, type Read, randomOwnSet } from './own-fields.ts'
import { areValuesWritten } from './values-written.ts'

const rowsCount = 150
/** Every tenth set has so many rows that the table of values answers. */
const largeRowsCount = defaultLimits.indexedRecordsMin + 100
const largeEvery = 10
const filtersOfSet = 100

/** Fields that accounts declare are filtered, paged and exported like any other. Two processes share the requests. */
export const declaredFields: Check = {
  name: 'declared_fields',
  bound: '0 different',
  async run(context) {
    const service = await Service.start()
    context.atEnd(() => service.stop())
    const ports = [(await service.serve()).port, (await service.serve()).port]
    const client = new Client()
    context.atEnd(async () => client.close())
    const sets = context.size(1_000, 10)
    const progress = context.progress('sets of fields', sets)
    const faults: string[] = []
    let [compared, found] = [0, 0]
    for (let n = 0; n < sets; n++) {
      const random = new Random(context.seed, 32, n)
      const set = randomOwnSet(random, n % largeEvery === 0 ? largeRowsCount : rowsCount)
      const name = `set-${n}`
      const headers = headersFor(name, await service.account(name))
      const send = (path: string, more: readonly string[] = [], body?: string) =>
        client.sendUntilAccepted({
          port: random.pick(ports),
          path,
          headers: [...headers, ...more],
          ...(body === undefined ? {} : { method: 'POST', body }),
        })
      await write(set, send)
      if (set.rows.length === largeRowsCount) await haveValuesWritten(service, set, name, send)
      const read: Read = async (query, accept) => {
        const response = await send(`${set.resource.path}?${query}`, ['Accept', accept])
        return requireStatus(response, 200).text
      }
      const result = await compareOwnSet(set, random, filtersOfSet, read)
      faults.push(...result.faults.map((fault) => `#${n} ${fault.slice(0, 1000)}`))
      compared += result.compared
      found += result.found
      progress.step()
    }
    progress.end()
    const note = [`seed ${context.seed}, ${grouped(found)} records found`, ...faults.slice(0, 10)].join('\n')
    const value = `${grouped(faults.length)} of ${grouped(compared)}`
    return { value, ok: faults.length === 0 && found > compared, samples: compared, note }
  },
}

type Send = (path: string, headers?: readonly string[], body?: string) => Promise<HttpResponse>

/** The first filter has them written. */
async function haveValuesWritten(
  service: Service,
  { resource, own }: OwnSet,
  name: string,
  send: Send,
): Promise<void> {
  const filter = encodeURIComponent(`${own[0]?.name}!=null`)
  requireStatus(await send(`${resource.path}?limit=1&filter=${filter}`), 200)
  await withClient(service.postgres.url, (client) =>
    waitUntil(() => areValuesWritten(client, resource.name, name)),
  )
}

async function write({ resource, own, rows }: OwnSet, send: Send): Promise<void> {
  for (const { name, type } of own) {
    const body = JSON.stringify({ resource: resource.name, name, type })
    requireStatus(await send('/manage/v1/fields', ['Content-Type', 'application/json'], body), 201)
  }
  const body = rows.map((row) => `${lineOf(resource, row)}\n`).join('')
  const sent = await send(`${resource.path}/batch`, ['Content-Type', 'application/x-ndjson'], body)
  if (!requireStatus(sent, 200).text.includes(`"inserted":${rows.length}`))
    throw new Error(`the rows were not inserted: ${sent.text.slice(0, 1000)}`)
}

function requireStatus(response: HttpResponse, status: number): HttpResponse {
  if (response.status === status) return response
  throw new Error(`${response.status} instead of ${status}: ${response.text.slice(0, 1000)}`)
}
