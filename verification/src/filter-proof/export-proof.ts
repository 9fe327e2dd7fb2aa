import { parse } from 'csv-parse/sync'
import { limits } from '../../../server/src/limits.ts'
import type { Check } from '../check.ts'
import type { Answer } from '../client.ts'
import type { Case } from './cases.ts'
import { type Fixture, proofFixture, type StandAccount } from './fixture.ts'
import { prove } from './proof.ts'
import { encodeForm } from './write.ts'

/** The same of exports, to which the values of a filter go another way. */
export const exportProof: Check = {
  name: 'export_proof',
  bound: '0 mismatches',
  async run(context) {
    const fixture = await proofFixture(context)
    return prove(
      context,
      context.size(20_000, 1_000),
      fixture.accounts,
      (theCase) => exported(fixture, theCase),
      // As many as one account may have, should all meet there.
      limits.accountExportsMax,
    )
  },
}

async function exported(
  fixture: Fixture,
  { account, resource, text, random }: Case<StandAccount>,
): Promise<Answer> {
  const server = random.integer(0, fixture.servers.length - 1)
  const others = resource.fields.map(({ name }) => name).filter((name) => name !== 'id' && random.chance(0.3))
  const body = `fields=${['id', ...others].join()}&filter=${encodeForm(text, random)}`
  const accept = random.pick(['text/csv', 'application/x-ndjson'])
  const answer = await fixture.ask(account, resource.path, { server, method: 'QUERY', body, accept })
  if (answer.status !== 200) return answer
  const ids = accept === 'text/csv' ? csvIds(answer.text) : ndjsonIds(answer.text)
  const meta = { count: ids.length, total: ids.length }
  return { ...answer, text: JSON.stringify({ data: ids.map((id) => ({ id })), meta }) }
}

function csvIds(text: string): number[] {
  const records: { id: string }[] = parse(text, { columns: true, bom: true })
  return records.map(({ id }) => Number(id))
}

function ndjsonIds(text: string): number[] {
  const lines = text.trimEnd().split('\n')
  const last: { $end: { count: number } } = JSON.parse(lines.pop() ?? '')
  if (last.$end.count !== lines.length)
    throw new Error(`${lines.length} lines, and ${last.$end.count} at the end`)
  return lines.map((line) => {
    const { id }: { id: number } = JSON.parse(line)
    return id
  })
}
