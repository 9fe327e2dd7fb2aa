import type pg from 'pg'
import { resources } from '../../../server/src/catalog/resources.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Connection } from '../../../server/src/postgres/connection.ts'
import { parseListRequest } from '../../../server/src/query/list-request.ts'
import { planList } from '../../../server/src/query/plan.ts'
import type { ListHints } from '../../../server/src/query/sql/access-path.ts'
import type { CarrySource } from '../../../server/src/query/sql/carry.ts'
import { type ListRow, listStatement } from '../../../server/src/query/sql/list-statement.ts'
import type { Statement } from '../../../server/src/sql.ts'
import type { Check } from '../../../verification/src/check.ts'
import { median } from '../numbers.ts'
import { type Fixture, half } from '../ratios/fixture.ts'
import { backendCpu, changeNames, changesFixture, servingSettings } from './fixture.ts'

const fewMax = 1 / 50
const manyMax = 1 / 8
const times = 15

/** CPU time of PostgreSQL for a list whose total is carried across 1, 10 and 1000 changes, and for one that counts its matches. */
export const carryRatio: Check = {
  name: 'carry_ratio',
  bound: '≤ 1/50, ≤ 1/50, ≤ 1/8',
  async run(context) {
    const fixture = await changesFixture(context)
    const records = context.size(1_000_000, 100_000)
    // A quick run counts a tenth of the matches.
    const scale = context.size(1, 10)
    return await withClient(fixture.url, async (client) => {
      await changeNames(client, fixture, records, 1)
      await client.query(servingSettings)
      const reader = new Reader(client, fixture, await backendCpu(client))
      const counted = await reader.cpuMs({})
      const ratios: number[] = []
      for (const count of [1, 10, 1000]) {
        const carry = await reader.cached()
        await withClient(fixture.url, (writer) => changeNames(writer, fixture, records, count))
        ratios.push((await reader.cpuMs({ carry })) / counted)
      }
      const [one = 1, ten = 1, thousand = 1] = ratios
      return {
        value: ratios.map((ratio) => `1/${Math.round(1 / ratio)}`).join(', '),
        samples: ratios.length,
        ok: Math.max(one, ten) <= fewMax * scale && thousand <= manyMax * scale,
        note: `counting ${records / 2} matches takes ${counted.toFixed(1)} ms of CPU`,
      }
    })
  },
}

class Reader {
  readonly #client: Connection
  readonly #fixture: Fixture
  readonly #cpu: () => number
  readonly #names = new Map<string, string>()
  readonly #plan = planList(
    resources.product,
    parseListRequest(`limit=10&filter=${encodeURIComponent(half.filter)}`, 'url'),
  )

  constructor(client: Connection, fixture: Fixture, cpu: () => number) {
    this.#client = client
    this.#fixture = fixture
    this.#cpu = cpu
  }

  /** The median of several executions. The first, which plans a statement with a generic plan, is not measured. */
  async cpuMs(hints: ListHints): Promise<number> {
    const mode = hints.carry === undefined ? 'auto' : 'force_generic_plan'
    await this.#client.query(`set plan_cache_mode = ${mode}`)
    const used: number[] = []
    for (let n = 0; n <= times; n++) {
      const before = this.#cpu()
      const row = await this.#read(hints)
      if (n > 0) used.push(this.#cpu() - before)
      if (hints.carry !== undefined && row.gained === null) throw new Error('the total was not carried')
    }
    return median(used)
  }

  /** What is cached after a list that counts. */
  async cached(): Promise<CarrySource> {
    const { lineage, version } = await this.#read({})
    if (lineage == null) throw new Error('the list has no lineage')
    const start = { id: '0', rank: 0 }
    return { lineage, version, start, safeStart: start }
  }

  async #read(hints: ListHints): Promise<ListRow> {
    const statement = listStatement({ accountId: this.#fixture.large.id }, this.#plan, 1, hints)
    const { rows } = await this.#client.query<ListRow>(this.#asServed(statement))
    const [row] = rows
    if (row === undefined) throw new Error('no row')
    return row
  }

  /** The service prepares statements that have a generic plan, and plans the others with their values. */
  #asServed({ text, values, execution }: Statement): pg.QueryConfig {
    if (execution === undefined) return { text, values: [...values] }
    const name = this.#names.get(text) ?? `list_${this.#names.size}`
    this.#names.set(text, name)
    return { name, text, values: [...values] }
  }
}
