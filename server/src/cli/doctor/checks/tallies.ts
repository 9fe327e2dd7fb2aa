import { type Account, accountNamed } from '../../../accounts/directory.ts'
import { limits } from '../../../limits/limits.ts'
import type { Connection } from '../../../postgres/connection.ts'
import { note } from '../../print.ts'
import { type Finding, type Findings, ok, problem, repaired, unchecked } from '../finding.ts'
import { checkKeys } from './keys.ts'
import { countTallies, repairTally, tallyFaults } from './tally-count.ts'
import { checkValues } from './values.ts'

export interface TallyOptions {
  readonly account?: string
  readonly allTallies: boolean
  readonly repair: boolean
}

export async function* checkTallies(client: Connection, options: TallyOptions): Findings {
  if (options.account !== undefined) {
    yield* checkOne(client, await accountNamed(client, options.account), options)
  } else if (options.allTallies) {
    yield* checkAll(client, options)
  } else {
    yield* checkSample(client, options)
  }
}

async function* checkOne(client: Connection, account: Account, options: TallyOptions): Findings {
  const findings = await checkAccount(client, account, options)
  yield* findings
  if (findings.length === 0) yield ok('tallies', `The tallies of ${account.name} are correct.`)
}

async function* checkAll(client: Connection, options: TallyOptions): Findings {
  let checked = 0
  let faults = 0
  for (let last = '0'; ; ) {
    const accounts = await accountsAfter(client, last, limits.accountsBatchRows)
    for (const account of accounts) {
      const findings = await checkAccount(client, account, options)
      faults += findings.length
      yield* findings
    }
    checked += accounts.length
    const next = accounts.at(-1)
    if (next === undefined) break
    last = next.accountId
    note(`… tallies of ${checked} accounts checked`)
  }
  if (faults === 0) yield ok('tallies', `The tallies of all ${checked} accounts are correct.`)
}

/** Checks the smallest accounts, up to a total number of records: one large account must not use up what hundreds of others need. */
async function* checkSample(client: Connection, options: TallyOptions): Findings {
  const { candidates, accounts } = await smallestAccounts(client)
  let records = 0
  let checked = 0
  let faults = 0
  for (const account of candidates) {
    if (records + account.records > limits.doctorRecordsDefaultMax) break
    const findings = await checkAccount(client, account, options)
    yield* findings
    faults += findings.length
    records += account.records
    checked += 1
  }
  if (faults === 0)
    yield ok('tallies', `The tallies of ${checked} ${checked === 1 ? 'account' : 'accounts'} are correct.`)
  const left = accounts - checked
  if (left === 0) return
  yield unchecked(
    'tallies',
    `Not checked: the tallies of the ${left === 1 ? '' : `${left} `}largest of ${accounts} accounts. ` +
      'Pass --account NAME to check one account, or --all-tallies.',
  )
}

interface SizedAccount extends Account {
  /** According to its tallies, which is accurate enough to estimate the cost of counting. */
  readonly records: number
}

async function smallestAccounts(
  client: Connection,
): Promise<{ readonly candidates: readonly SizedAccount[]; readonly accounts: number }> {
  const { rows } = await client.query<SizedAccount & { accounts: number }>(
    `select a.account_id as "accountId", a.name, a.status, a.created_at as "createdAt",
            coalesce(t.records, 0)::float8 as records, count(*) over ()::int as accounts
       from account a left join (select account_id, sum(total) as records from tally group by account_id) t using (account_id)
      where not exists (select from account_deletion d where d.former_id = a.account_id and d.state = 'deleting')
      order by records, a.account_id limit $1`,
    [limits.doctorAccountsDefaultMax],
  )
  return { candidates: rows, accounts: rows[0]?.accounts ?? 0 }
}

async function checkAccount(client: Connection, account: Account, options: TallyOptions): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const tally of await countTallies(client, account)) {
    const faults = tallyFaults(tally)
    if (faults.length === 0) continue
    const message = `The ${tally.resource} tally of ${account.name} is wrong: ${faults.join('; ')}.`
    if (options.repair) {
      await repairTally(client, account, tally.resource)
      findings.push(repaired('tallies', message))
    } else {
      findings.push(problem('tallies', message, `quartermaster doctor --repair --account ${account.name}`))
    }
  }
  return [
    ...findings,
    ...(await checkKeys(client, account, options)),
    ...(await checkValues(client, account, options)),
  ]
}

async function accountsAfter(client: Connection, accountId: string, limit: number): Promise<Account[]> {
  const { rows } = await client.query<Account>(
    `select account_id as "accountId", name, status, created_at as "createdAt"
       from account where account_id > $1 order by account_id limit $2`,
    [accountId, limit],
  )
  return rows
}
