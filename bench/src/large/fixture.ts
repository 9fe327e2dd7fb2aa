import { withClient } from '../../../server/src/postgres/client.ts'
import { type Context, shared } from '../../../verification/src/check.ts'
import type { Client, HttpResponse } from '../../../verification/src/client.ts'
import { DatabaseCpu } from '../cpu.ts'
import { type Fixture, sharedFixture } from '../ratios/fixture.ts'
import { headersOf } from '../ratios/same-work.ts'
import { productPath } from '../ratios/workloads.ts'

const loaded = sharedFixture('large', (context) => ({
  records: context.size(10_000_000, 1_000_000),
  accounts: context.size(20_000, 2_000),
}))

/** One account with ten million products, and small ones. A word in 0.5 % of the names of the large one is the name of a metal. */
export const largeFixture = shared(async (context: Context) => {
  const fixture = await loaded(context)
  const cpu = await DatabaseCpu.of(fixture.url)
  await withClient(fixture.url, async (client) => {
    await client.query('checkpoint')
    await client.query(`select count(*) from product where account_id = 1`)
  })
  return { fixture, cpu, stop: async () => {} }
})

export interface Answer {
  readonly status: number
  readonly ms: number
  readonly cpuMs: number
  readonly total: number | undefined
  readonly code: string | undefined
  readonly lastId: number | undefined
}

/** Requests a list of the large account, and measures the CPU time of PostgreSQL meanwhile. */
export async function answerOf(
  { server, large }: Fixture,
  client: Client,
  query: string,
  cpu?: DatabaseCpu,
): Promise<Answer> {
  const before = cpu?.seconds() ?? 0
  const started = performance.now()
  const path = `${productPath}?${query.includes('fields=') ? '' : 'fields=id&'}${query}`
  const response: HttpResponse = await client.send({ port: server.port, path, headers: headersOf(large) })
  const ms = performance.now() - started
  const body: {
    readonly meta?: { readonly total: number }
    readonly code?: string
    readonly data?: readonly { readonly id: number }[]
  } = JSON.parse(response.text)
  return {
    status: response.status,
    ms,
    cpuMs: ((cpu?.seconds() ?? 0) - before) * 1000,
    total: body.meta?.total,
    code: body.code,
    lastId: body.data?.at(-1)?.id,
  }
}
