import {
  type Account,
  activateAccount,
  createAccount,
  limitAccount,
  limitsOf,
  listAccounts,
  showAccount,
  suspendAccount,
} from '../../accounts/directory.ts'
import type { Config } from '../../config/config.ts'
import type { IdSource } from '../../id-source.ts'
import type { PerMinute } from '../arguments.ts'
import { asOwner } from '../database/owner.ts'
import { operator } from '../operator.ts'
import { formatTime, note, printJson, printLine, printTable } from '../print.ts'

export interface JsonOption {
  readonly json?: boolean
}

export async function accountCreate(
  config: Config,
  name: string,
  options: JsonOption & { readonly ids?: Exclude<IdSource, 'unassigned'> },
): Promise<void> {
  const account = await asOwner(config, (client) => createAccount(client, operator(), name, options.ids))
  printAccount(account, options)
  note(`Created. To create a key for it: quartermaster key create --account ${name} --name 'first key'`)
}

export async function accountList(
  config: Config,
  options: JsonOption & { readonly after: string; readonly limit: number },
): Promise<void> {
  const { after, limit } = options
  // One more than is shown, to know whether there are more.
  const found = await asOwner(config, (client) => listAccounts(client, { after, limit: limit + 1 }))
  const shown = found.slice(0, limit)
  const next = found.length > limit ? (shown.at(-1)?.name ?? null) : null
  if (options.json === true) {
    printJson({ accounts: shown.map(accountJson), next_after: next })
    return
  }
  const rows = shown.map((account) => [account.name, account.status, formatTime(account.createdAt)])
  if (rows.length > 0) printTable(['NAME', 'STATUS', 'CREATED'], rows)
  else note('There are no accounts. To create one: quartermaster account create NAME')
  if (next !== null) note(`More accounts: quartermaster account list --after ${next}`)
}

export async function accountShow(config: Config, name: string, options: JsonOption): Promise<void> {
  const account = await asOwner(config, (client) => showAccount(client, name))
  const { keys, tallies } = account
  if (options.json === true) {
    const tally = tallies.map(({ lastId, ids, senderIdsFrom, ...rest }) => ({
      ...rest,
      last_id: lastId,
      ids,
      sender_ids_from: senderIdsFrom,
    }))
    printJson({ ...accountJson(account), keys, tallies: tally })
    return
  }
  printAccount(account, options)
  printLine(limitsOf(account))
  printLine(`keys: ${keys.valid} valid of ${keys.all}`)
  printLine('')
  printTable(
    ['RESOURCE', 'TOTAL', 'VERSION', 'LAST ID', 'IDS'],
    tallies.map((t) => [
      t.resource,
      String(t.total),
      String(t.version),
      String(t.lastId),
      t.senderIdsFrom === null || t.senderIdsFrom === 1 ? t.ids : `${t.ids} from ${t.senderIdsFrom}`,
    ]),
  )
}

export async function accountLimit(
  config: Config,
  name: string,
  options: JsonOption & { readonly requests?: PerMinute; readonly keyRequests?: PerMinute },
): Promise<void> {
  const { requests, keyRequests } = options
  if (requests === undefined && keyRequests === undefined) {
    throw new Error(
      "Pass --requests COUNT, --key-requests COUNT, or both. The value 'default' removes a limit.",
    )
  }
  const accountLimits = {
    ...(requests === undefined ? {} : { requestsPerMinute: limitOrNull(requests) }),
    ...(keyRequests === undefined ? {} : { keyRequestsPerMinute: limitOrNull(keyRequests) }),
  }
  const account = await asOwner(config, (client) => limitAccount(client, operator(), name, accountLimits))
  if (options.json === true) printJson(accountJson(account))
  else printLine(limitsOf(account))
}

export async function accountSuspend(config: Config, name: string, options: JsonOption): Promise<void> {
  printAccount(await asOwner(config, (client) => suspendAccount(client, operator(), name)), options)
}

export async function accountActivate(config: Config, name: string, options: JsonOption): Promise<void> {
  printAccount(await asOwner(config, (client) => activateAccount(client, operator(), name)), options)
}

function printAccount(account: Account, options: JsonOption): void {
  if (options.json === true) printJson(accountJson(account))
  else printLine(`${account.name}: ${account.status}, created ${formatTime(account.createdAt)}`)
}

function limitOrNull(limit: PerMinute): number | null {
  return limit === 'default' ? null : limit
}

function accountJson(account: Account) {
  return {
    account_id: Number(account.accountId),
    name: account.name,
    status: account.status,
    created_at: account.createdAt,
    requests_per_minute: account.requestsPerMinute,
    key_requests_per_minute: account.keyRequestsPerMinute,
  }
}
