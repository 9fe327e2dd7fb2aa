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

/** Checks the first accounts, up to a total number of records. */
async function* checkSample(client: Connection, options: TallyOptions): Findings {
  const found = await accountsAfter(client, '0', limits.doctorAccountsDefaultMax + 1)
  const candidates = found.slice(0, limits.doctorAccountsDefaultMax)
  let records = 0
  let checked = 0
  let faults = 0
  for (const account of candidates) {
    const size = await recordsOf(client, account)
    if (records + size > limits.doctorRecordsDefaultMax) continue
    const findings = await checkAccount(client, account, options)
    yield* findings
    faults += findings.length
    records += size
    checked += 1
  }
  if (faults === 0)
    yield ok('tallies', `The tallies of ${checked} ${checked === 1 ? 'account' : 'accounts'} are correct.`)
  const skipped = candidates.length - checked
  const rest = [
    ...(skipped > 0 ? [`${skipped} of the first ${candidates.length} accounts, which are large`] : []),
    ...(found.length > candidates.length ? [`the accounts after the first ${candidates.length}`] : []),
  ]
  if (rest.length > 0) {
    yield unchecked(
      'tallies',
      `Not checked: the tallies of ${rest.join(', and of ')}. Pass --account NAME to check one account, or --all-tallies.`,
    )
  }
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

/** According to its tallies, which is accurate enough to estimate the cost of counting. */
async function recordsOf(client: Connection, { accountId }: Account): Promise<number> {
  const { rows } = await client.query<{ records: number }>(
    'select coalesce(sum(total), 0)::float8 as records from tally where account_id = $1',
    [accountId],
  )
  return rows[0]?.records ?? 0
}
