import { parse } from 'csv-parse/sync'
import { defaultLimits } from '../../../server/src/limits/passed-limits.ts'
import type { Check } from '../check.ts'
import type { HttpResponse } from '../client.ts'
import type { Case } from './cases.ts'
import { type Fixture, type ProofAccount, proofFixture } from './fixture.ts'
import { prove } from './proof.ts'
import { encodeForm } from './write.ts'

/** Compares exports with the evaluator: they pass the values of a filter to PostgreSQL as settings, not as parameters. */
export const exportProof: Check = {
  name: 'export_proof',
  bound: '0 mismatches',
  async run(context) {
    const fixture = await proofFixture(context)
    return prove(
      context,
      context.size(20_000, 200),
      fixture.accounts,
      (theCase) => exported(fixture, theCase),
      // More concurrent exports of one account would be rejected.
      defaultLimits.accountExportsMax,
    )
  },
}

async function exported(
  fixture: Fixture,
  { account, resource, text, random }: Case<ProofAccount>,
): Promise<HttpResponse> {
  const server = random.integer(0, fixture.servers.length - 1)
  const others = resource.fields.map(({ name }) => name).filter((name) => name !== 'id' && random.chance(0.3))
  const body = `fields=${['id', ...others].join()}&filter=${encodeForm(text, random)}`
  const accept = random.pick(['text/csv', 'text/csv; form=spreadsheet', 'application/x-ndjson'])
  const response = await fixture.send(account, resource.path, { server, method: 'QUERY', body, accept })
  if (response.status !== 200) return response
  const ids = accept.startsWith('text/csv') ? csvIds(response.text) : ndjsonIds(response.text)
  const meta = { count: ids.length, total: ids.length }
  return { ...response, text: JSON.stringify({ data: ids.map((id) => ({ id })), meta }) }
}

function csvIds(text: string): number[] {
  const records: { id: string }[] = parse(text, { columns: true, bom: true })
  return records.map(({ id }) => Number(id))
}

function ndjsonIds(text: string): number[] {
  const lines = text.trimEnd().split('\n')
  const last: { $end: { count: number } } = JSON.parse(lines.pop() ?? '')
  if (last.$end.count !== lines.length)
    throw new Error(`${lines.length} lines, but the last line counts ${last.$end.count}`)
  return lines.map((line) => {
    const { id }: { id: number } = JSON.parse(line)
    return id
  })
}
