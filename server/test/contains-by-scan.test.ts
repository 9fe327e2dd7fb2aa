import fc from 'fast-check'
import { expect, it } from 'vitest'
import { resources } from '../src/catalog/resources.ts'
import { parseListRequest } from '../src/query/list-request.ts'
import { planList } from '../src/query/plan.ts'
import { where, whereAmongMany } from '../src/query/sql/where.ts'
import { sql } from '../src/sql.ts'
import { account, connected, freshDatabase } from './database.ts'

/** "Contains" has two forms: for the trigram index, and for reading many records. Both find the same ones. */

const client = await connected(await freshDatabase())
const acme = await account(client, 'acme')
// With the characters that fold to letters of ASCII: dotted İ and the Kelvin sign.
const letters = [
  'a',
  'A',
  'i',
  'I',
  'k',
  'K',
  'z',
  '7',
  '%',
  '_',
  '\\',
  ' ',
  'İ',
  'ı',
  'K',
  'ü',
  'Ü',
  'ß',
  'ſ',
  'Å',
  'Σ',
  'ς',
]
const word = (maxLength: number) =>
  fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength }).map((parts) => parts.join(''))
const names = fc.sample(word(6), { numRuns: 3_000, seed: 7 })
await client.query(
  `insert into product select $1, n, 1, name, case when n % 3 = 0 then name end, 0, 0, true, null, null, null, now(), now()
   from unnest($2::text[]) with ordinality u(name, n)`,
  [acme.accountId, names],
)

it('both forms of "contains" find the same records', async () => {
  let found = 0
  await fc.assert(
    fc.asyncProperty(
      word(3),
      fc.constantFrom('*', '!*'),
      fc.constantFrom('name', 'default_code'),
      async (text, operator, field) => {
        const raw = `filter=${encodeURIComponent(`${field}${operator}${JSON.stringify(text)}`)}`
        const plan = planList(resources.product, parseListRequest(raw, 'url'))
        if (plan.where === undefined) throw new Error('no filter')
        const { text: statement, values } =
          // Null and false are the same: neither form finds the record.
          sql`select count(*) filter (where coalesce(a, false) <> coalesce(b, false))::int as different, count(*) filter (where a)::int as found
          from (select ${where(plan.where)} as a, ${whereAmongMany(plan.where)} as b from product) p`.statement()
        const { rows } = await client.query<{ different: number; found: number }>(statement, [...values])
        expect(rows[0]?.different, raw).toBe(0)
        found += rows[0]?.found ?? 0
      },
    ),
    { numRuns: 300 },
  )
  expect(found).toBeGreaterThan(10_000)
})
