import { shared } from '../../../verification/src/check.ts'
import type { Benchmark } from '../benchmark.ts'
import { DatabaseCpu } from '../cpu.ts'
import { column, describeIntervals, inIntervals } from '../intervals.ts'
import { medianOfRatios, short } from '../numbers.ts'
import { type Fixture, smallRecords } from '../ratios/fixture.ts'
import { sideOf } from '../ratios/rates.ts'
import { forms, productPath, type Workload, workloads } from '../ratios/workloads.ts'
import { bar } from '../side-by-side.ts'
import { addFields, fieldsFixture } from './fixture.ts'

const boundMin = 0.9

/** The fixture with its fields. */
export const withFields = shared(async (context) => {
  const fixture = await fieldsFixture(context)
  await addFields(fixture.url)
  return { fixture, stop: async () => {} }
})

/** Records by a unique field, and the same records by id: in the same accounts, none of them cached. */
export const getByKey: Benchmark = {
  name: 'get_by_key',
  bound: `≥ ${boundMin} × by id`,
  async run(context) {
    const { fixture } = await withFields(context)
    const byId = await sideOf(context, fixture, workload(productPath), {
      name: 'by id',
      server: fixture.server,
    })
    const byKey = await sideOf(context, fixture, workload(`${productPath}/default_code`), {
      name: 'by key',
      server: fixture.server,
    })
    const [ids = [], keys = []] = await inIntervals([byId, byKey], {
      rounds: context.size(15, 4),
      seconds: 1,
      database: await DatabaseCpu.of(fixture.url),
    })
    const ratio = medianOfRatios(column(keys, 'rate'), column(ids, 'rate'))
    const [service, other] = [bar('by key', column(keys, 'rate')), bar('by id', column(ids, 'rate'))]
    return {
      value: `${ratio.toFixed(2)} (${short(service.value)} ÷ ${short(other.value)} /s)`,
      samples: Math.min(keys.length, ids.length),
      ok: ratio >= boundMin,
      note: [describeIntervals(byId, ids), describeIntervals(byKey, keys)].join('\n'),
      series: [{ label: 'record by key', unit: '/s', service, other, limit: other.value * boundMin }],
    }
  },
}

function workload(path: string): Workload {
  const [found] = workloads.filter(({ name }) => name === 'one_record')
  if (found === undefined) throw new Error('there is no workload one_record')
  const requests = async ({ files: { small: accounts, orders } }: Fixture) =>
    ({ shape: 'one', path, accounts, orders, forms, ids: smallRecords }) as const
  return { ...found, requests }
}
