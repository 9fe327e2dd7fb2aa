import { createAccount, limitAccount, setStatus } from '../../accounts/account-changes.ts'
import {
  type Account,
  accountJson,
  detailsJson,
  findAccount,
  type LimitParameters,
  limitsOf,
  listAccounts,
  showAccount,
} from '../../accounts/directory.ts'
import type { Config } from '../../config/config.ts'
import type { IdSource } from '../../id-source.ts'
import type { LimitValue } from '../arguments.ts'
import { UsageError } from '../command-error.ts'
import { asOwner } from '../database/owner.ts'
import { operator } from '../operator.ts'
import { formatTime, note, printJson, printLine, printTable } from '../print.ts'
import { originsLine } from './cors-command.ts'

export interface JsonOption {
  readonly json?: boolean
}

export async function accountCreate(
  config: Config,
  name: string,
  options: JsonOption & { readonly ids?: Exclude<IdSource, 'unassigned'>; readonly ifNotExists?: boolean },
): Promise<void> {
  const { account, existed } = await asOwner(config, async (client) => {
    const existing = options.ifNotExists === true ? await findAccount(client, name) : undefined
    if (existing !== undefined) return { account: existing, existed: true }
    return { account: await createAccount(client, operator(), name, options.ids), existed: false }
  })
  printAccount(account, options)
  if (existed) return
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
  const { keys, tallies, used, corsOrigins } = account
  if (options.json === true) {
    printJson(detailsJson(account))
    return
  }
  printAccount(account, options)
  const { deletion } = account
  if (deletion !== undefined) {
    const when =
      deletion.state === 'scheduled' ? `scheduled for ${formatTime(deletion.dueAt)}` : deletion.state
    printLine(`deletion: ${when}, requested by ${deletion.requestedBy}`)
  }
  for (const line of limitsOf(account)) printLine(line)
  printLine(`keys: ${keys.valid} valid of ${keys.all}`)
  printLine(
    `used: ${used.idempotencyResults} results for an Idempotency-Key, ${used.auditRows} audit entries`,
  )
  printLine(originsLine(corsOrigins))
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

/** By their options, such as --key-requests. Undefined: not changed. */
export interface LimitOptions extends JsonOption {
  readonly requests?: LimitValue
  readonly keyRequests?: LimitValue
  readonly records?: LimitValue
  readonly idempotencyResults?: LimitValue
  readonly auditEntries?: LimitValue
}

export async function accountLimit(config: Config, name: string, options: LimitOptions): Promise<void> {
  const set = (member: keyof LimitParameters, given: LimitValue | undefined) =>
    given === undefined ? {} : { [member]: given === 'default' ? null : given }
  const parameters: LimitParameters = {
    ...set('requestsPerMinute', options.requests),
    ...set('keyRequestsPerMinute', options.keyRequests),
    ...set('recordsMax', options.records),
    ...set('idempotencyResultsMax', options.idempotencyResults),
    ...set('auditRowsMax', options.auditEntries),
  }
  if (Object.keys(parameters).length === 0) {
    throw new UsageError(
      'Pass at least one limit, such as --requests COUNT; `quartermaster account limit --help` lists them. ' +
        "The value 'default' removes a limit.",
    )
  }
  const account = await asOwner(config, (client) => limitAccount(client, operator(), name, parameters))
  if (options.json === true) printJson(accountJson(account))
  else for (const line of limitsOf(account)) printLine(line)
}

export async function accountStatus(
  config: Config,
  name: string,
  status: Account['status'],
  options: JsonOption,
): Promise<void> {
  printAccount(await asOwner(config, (client) => setStatus(client, operator(), name, status)), options)
}

function printAccount(account: Account, options: JsonOption): void {
  if (options.json === true) printJson(accountJson(account))
  else printLine(`${account.name}: ${account.status}, created ${formatTime(account.createdAt)}`)
}
