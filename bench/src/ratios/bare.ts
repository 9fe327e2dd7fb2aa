import { resources } from '../../../server/src/catalog/resources.ts'
import { limits } from '../../../server/src/limits/limits.ts'
import { insertStatement } from '../../../server/src/writes/create-statements.ts'
import { type Fixture, fieldNames, smallRecords } from './fixture.ts'
import type { Script } from './pgbench.ts'

/** The baseline: statements that a service without caches would send to PostgreSQL. */

export const columns = fieldNames.join(', ')

export function pageAndCount({ small }: Fixture, pagesMax: number): Script {
  return {
    text: `\\set account random(:first, :last)
\\set skipped 10 * random(0, ${pagesMax - 1})
select ${columns} from product where account_id = :account order by id limit 10 offset :skipped;
select count(*) from product where account_id = :account;
`,
    variables: accountsOf(small),
  }
}

export function oneRecord({ small }: Fixture): Script {
  return {
    text: `\\set account random(:first, :last)
\\set id random(1, ${smallRecords})
select ${columns} from product where account_id = :account and id = :id;
`,
    variables: accountsOf(small),
  }
}

/** The statement of the service, unchanged. */
export function createPartner({ small }: Fixture, name: string): Script {
  const statement = insertStatement(resources.partner, {
    scope: { accountId: ':account' },
    author: 'b7TqM2vc',
    values: new Map([['name', ':name']]),
    recordsMax: limits.recordsMax,
  })
  const text = statement.text.replaceAll(/\$(\d+)/g, (_, n: string) =>
    literal(statement.values[Number(n) - 1]),
  )
  return {
    text: `\\set account random(:first, :last)\n${text};\n`,
    variables: { ...accountsOf(small), name },
  }
}

/** A value in the text of a script: a variable of pgbench, or a literal. */
function literal(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return value.startsWith(':') ? value : `'${value}'`
}

export function pageAt({ large }: Fixture, limit: number, pages: { first: number; last: number }): Script {
  return {
    text: `\\set skipped ${limit} * (random(:first, :last) - 1)
select ${columns} from product where account_id = :account order by id limit ${limit} offset :skipped;
`,
    variables: { account: large.id, ...pages },
  }
}

function accountsOf(small: Fixture['small']): { first: string; last: string } {
  const [first, last] = [small[0]?.id, small.at(-1)?.id]
  if (first === undefined || last === undefined) throw new Error('no small accounts')
  return { first, last }
}
