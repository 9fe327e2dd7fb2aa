import { Failure } from '../../errors/errors.ts'
import { keyIsValid } from '../../key-state.ts'
import type { Connection } from '../../postgres/connection.ts'
import { inTransaction, type Transaction } from '../../postgres/transaction.ts'
import { type Statement, sql, value } from '../../sql.ts'
import { changeLimits, changeStatus, insertAccount, lockAccount } from '../account-changes.ts'
import { createKey, type NewKey } from '../api-keys.ts'
import type { Actor } from '../audit.ts'
import { setCorsOrigins } from '../cors-origins.ts'
import { type Account, accountsStatement, type LimitName, type LimitParameters } from '../directory.ts'
import type { Scope } from '../key-format.ts'
import {
  type AccountDescription,
  type DescribedKey,
  limitMembers,
  type NamedDescription,
} from './description.ts'
import { runOn } from './run-on.ts'

/** One member that differs from its description. */
export interface MemberChange {
  readonly member: string
  readonly from: unknown
  readonly to: unknown
}

export interface Applied {
  readonly name: string
  readonly result: 'created' | 'changed' | 'unchanged'
  readonly changes: readonly MemberChange[]
  /** The keys that were created. They cannot be shown again. */
  readonly keys: readonly NewKey[]
}

/** What is compared with a description. */
interface State {
  readonly account: Account | undefined
  readonly origins: readonly string[]
  readonly keys: readonly StoredKey[]
}

interface StoredKey {
  readonly name: string
  readonly scopes: readonly Scope[]
}

interface Plan {
  readonly changes: readonly MemberChange[]
  readonly limits: LimitParameters
  readonly keys: readonly DescribedKey[]
}

type Run = Transaction['run']

/** Brings an account to a described state, in one transaction, and returns what changed. An account that has it already is not locked. */
export async function applyAccount(
  connection: Connection,
  actor: Actor,
  description: NamedDescription,
  { isDryRun = false }: { readonly isDryRun?: boolean } = {},
): Promise<Applied> {
  const { name } = description
  const before = await stateOf(runOn(connection), name)
  const plan = planOf(before, description)
  if (isDryRun || (before.account !== undefined && plan.changes.length === 0))
    return appliedOf(name, before, plan, [])
  try {
    return await inTransaction(connection, (transaction) => change(transaction, actor, description, before))
  } catch (error) {
    // Another operator has created it in the meantime.
    if (!(error instanceof Failure && error.code === 'account_exists') || before.account !== undefined)
      throw error
    return await applyAccount(connection, actor, description)
  }
}

/** The accounts of the descriptions that have not the described state yet, by few statements. */
export async function differing(
  connection: Connection,
  descriptions: readonly NamedDescription[],
): Promise<Set<string>> {
  const states = await statesOf(
    runOn(connection),
    descriptions.map(({ name }) => name),
  )
  return new Set(
    descriptions.flatMap((description) => {
      const state = states.get(description.name) ?? absent
      try {
        return state.account !== undefined && planOf(state, description).changes.length === 0
          ? []
          : [description.name]
      } catch {
        // It cannot be applied; applying it says why.
        return [description.name]
      }
    }),
  )
}

async function change(
  transaction: Transaction,
  actor: Actor,
  description: NamedDescription,
  { account: existing }: State,
): Promise<Applied> {
  const { name } = description
  let account =
    existing === undefined
      ? await insertAccount(transaction, actor, name, description.ids ?? 'unassigned')
      : await lockAccount(transaction, name)
  const before: State =
    existing === undefined ? absent : await stateOf((statement) => transaction.run(statement), name)
  const plan = planOf(before, description)
  if (Object.keys(plan.limits).length > 0)
    account = await changeLimits(transaction, actor, account, plan.limits)
  if (description.corsOrigins !== undefined)
    await setCorsOrigins(transaction, account, actor, description.corsOrigins)
  const keys: NewKey[] = []
  for (const key of plan.keys) keys.push(await createKey(transaction, account, actor, key))
  if (description.status !== undefined) await changeStatus(transaction, actor, account, description.status)
  return appliedOf(name, before, plan, keys)
}

function appliedOf(name: string, { account }: State, { changes }: Plan, keys: readonly NewKey[]): Applied {
  const result = account === undefined ? 'created' : changes.length === 0 ? 'unchanged' : 'changed'
  return { name, result, changes, keys }
}

const absent: State = { account: undefined, origins: [], keys: [] }

/** What an account lacks of its description. */
function planOf({ account, origins, keys }: State, description: AccountDescription): Plan {
  const changes: MemberChange[] = []
  const { status, corsOrigins, ids } = description
  const statusNow = account?.status ?? 'active'
  if (account === undefined && ids !== undefined && ids !== 'unassigned')
    changes.push({ member: 'ids', from: 'unassigned', to: ids })
  if (status !== undefined && status !== statusNow)
    changes.push({ member: 'status', from: statusNow, to: status })
  const changed: { -readonly [Name in LimitName]?: number | null } = {}
  for (const [member, { of }] of Object.entries(limitMembers)) {
    const [from, to] = [account?.[of] ?? null, description.limits[of]]
    if (to === undefined || to === from) continue
    changed[of] = to
    changes.push({ member, from, to })
  }
  if (corsOrigins !== undefined && corsOrigins.join(' ') !== origins.join(' '))
    changes.push({ member: 'cors_origins', from: origins, to: corsOrigins })
  const missing = description.keys.filter((key, i) => !hasKey(keys, key, i))
  for (const { name, scopes } of missing) changes.push({ member: 'keys', from: null, to: { name, scopes } })
  return { changes, limits: changed, keys: missing }
}

function hasKey(keys: readonly StoredKey[], described: DescribedKey, index: number): boolean {
  const found = keys.filter(({ name }) => name === described.name)
  const wanted = [...new Set(described.scopes)].toSorted().join(' ')
  if (found.some(({ scopes }) => scopes.toSorted().join(' ') === wanted)) return true
  const [other] = found
  if (other === undefined) return false
  const message =
    `The key "${described.name}" has other scopes: ${other.scopes.join(', ')}. The scopes of a key never change: ` +
    'revoke it, or describe a key with another name.'
  throw new Failure('body_invalid', message, [
    { pointer: `/keys/${index}/scopes`, code: 'member_invalid', message, expected: other.scopes },
  ])
}

async function stateOf(run: Run, name: string): Promise<State> {
  return (await statesOf(run, [name])).get(name) ?? absent
}

async function statesOf(run: Run, names: readonly string[]): Promise<Map<string, State>> {
  const accounts = await run<Account>(accountsStatement(names))
  const ids = accounts.map(({ accountId }) => accountId)
  if (ids.length === 0) return new Map()
  const origins = await run<{ accountId: string; origins: string[] }>(originsOf(ids))
  const keys = Map.groupBy(
    await run<StoredKey & { accountId: string }>(keysOf(ids)),
    ({ accountId }) => accountId,
  )
  const originsById = new Map(origins.map((row) => [row.accountId, row.origins]))
  return new Map(
    accounts.map((account) => {
      const { accountId, name } = account
      return [name, { account, origins: originsById.get(accountId) ?? [], keys: keys.get(accountId) ?? [] }]
    }),
  )
}

function originsOf(ids: readonly string[]): Statement {
  return sql`select account_id as "accountId", origins from cors_origins
where account_id = any(${value(ids)}::bigint[])`.statement('account')
}

/** A key that was replaced does not count: its successor has its name. */
function keysOf(ids: readonly string[]): Statement {
  return sql`select account_id as "accountId", name, scopes from api_key
where account_id = any(${value(ids)}::bigint[]) and rotated_to is null and ${keyIsValid}`.statement('account')
}

/** As the command line and the operator API show it. */
export function appliedJson({ name, result, changes, keys }: Applied) {
  const newKeys = keys.map(({ keyId, name: keyName, key }) => ({ key_id: keyId, name: keyName, key }))
  return { name, result, changes, keys: newKeys }
}
