import { withClient } from '../../../server/src/postgres/client.ts'
import { shared } from '../../../verification/src/check.ts'
import { Client } from '../../../verification/src/client.ts'
import { areValuesWritten } from '../../../verification/src/fields/values-written.ts'
import { waitUntil } from '../../../verification/src/wait-until.ts'
import type { Benchmark } from '../benchmark.ts'
import { median } from '../numbers.ts'
import { headersOf } from '../ratios/same-work.ts'
import { productPath } from '../ratios/workloads.ts'
import { bar } from '../side-by-side.ts'
import { withFields } from './get-by-key.ts'

interface Comparison {
  readonly name: string
  readonly bound: string
  readonly declared: (n: number) => string
  /** The same condition on the twin of the field. */
  readonly twin: (n: number) => string
  readonly isWithin: (ms: number, twinMs: number) => boolean
}

const comparisons: readonly Comparison[] = [
  {
    name: 'declared_selective',
    bound: '≤ 1.5 × the twin',
    declared: (n) => `x_price=${n}.37`,
    twin: (n) => `list_price=${n}.37`,
    isWithin: (ms, twinMs) => ms <= 1.5 * twinMs,
  },
  {
    name: 'declared_broad',
    bound: '≤ 2 × the twin',
    declared: (n) => `x_price<${500 + n}`,
    twin: (n) => `list_price<${500 + n}`,
    isWithin: (ms, twinMs) => ms <= 2 * twinMs,
  },
  {
    name: 'declared_contains',
    bound: '≤ 2 × the twin',
    declared: (n) => `x_text*bearing ${n % 10}`,
    twin: (n) => `name*bearing ${n % 10}`,
    isWithin: (ms, twinMs) => ms <= 2 * twinMs,
  },
  {
    name: 'declared_rare_null',
    bound: '≤ 20 ms',
    declared: (n) => `x_category=null&id>${n}`,
    twin: (n) => `categ_id=null&id>${n}`,
    isWithin: (ms) => ms <= 20,
  },
]

/** The first filter has the values written into their table. */
const withValues = shared(async (context) => {
  const { fixture } = await withFields(context)
  const client = new Client(1)
  const started = performance.now()
  const path = `${productPath}?fields=id&limit=1&filter=x_price=-1`
  await client.sendUntilAccepted({ port: fixture.server.port, path, headers: headersOf(fixture.large) })
  client.close()
  const [name = ''] = fixture.large.host.split('.')
  const isWritten = () => withClient(fixture.url, (database) => areValuesWritten(database, 'product', name))
  await waitUntil(isWritten, 1_800_000, 'the values were not written')
  context.log(`the values were written in ${((performance.now() - started) / 1000).toFixed(0)} s`)
  await withClient(fixture.url, (database) => database.query('vacuum analyze product_value'))
  return { fixture, stop: async () => {} }
})

/** First pages with their total, of a million products; every filter is new. Each pair of requests is sent alternately. */
export const declaredFilters: readonly Benchmark[] = comparisons.map(
  ({ name, bound, declared, twin, isWithin }): Benchmark => ({
    name,
    bound,
    async run(context) {
      const { fixture } = await withValues(context)
      const client = new Client(1)
      const times = { declared: [] as number[], twin: [] as number[] }
      const read = async (filter: string) => {
        const path = `${productPath}?fields=id&limit=10&filter=${encodeURIComponent(filter)}`
        const started = performance.now()
        const { status, text } = await client.sendUntilAccepted({
          port: fixture.server.port,
          path,
          headers: headersOf(fixture.large),
        })
        if (status !== 200) throw new Error(`${filter}: ${status} ${text.slice(0, 300)}`)
        const { meta }: { meta: { total: number } } = JSON.parse(text)
        return { ms: performance.now() - started, total: meta.total }
      }
      for (let n = 0; n < context.size(15, 5); n++) {
        const [one, other] = [await read(declared(n)), await read(twin(n))]
        if (one.total !== other.total)
          throw new Error(`${declared(n)}: ${one.total}, ${twin(n)}: ${other.total}`)
        // The first of each prepares statements and fills the caches of PostgreSQL.
        if (n === 0) continue
        times.declared.push(one.ms)
        times.twin.push(other.ms)
      }
      client.close()
      const [ms, twinMs] = [median(times.declared), median(times.twin)]
      return {
        value: `${(ms / twinMs).toFixed(1)} (${ms.toFixed(1)} ÷ ${twinMs.toFixed(1)} ms)`,
        samples: times.declared.length,
        ok: isWithin(ms, twinMs),
        series: [
          {
            label: name,
            unit: 'ms',
            service: bar('declared', times.declared),
            other: bar('twin', times.twin),
            limit: twinMs * 2,
          },
        ],
      }
    },
  }),
)
