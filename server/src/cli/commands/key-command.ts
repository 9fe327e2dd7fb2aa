import { createKey, keyJson, listKeys, type NewKey, revokeKey, rotateKey } from '../../accounts/api-keys.ts'
import { accountNamed } from '../../accounts/directory.ts'
import { type Scope, scopes } from '../../accounts/key-format.ts'
import type { Config } from '../../config/config.ts'
import { asOwner } from '../database/owner.ts'
import { operator } from '../operator.ts'
import { formatTime, note, printJson, printLine, printTable } from '../print.ts'
import type { JsonOption } from './account-command.ts'
import { changeAccount } from './change-account.ts'

/** What an integration needs that reads. The scopes to change records and to manage the account must be requested explicitly. */
export const defaultScopes = scopes.filter((scope) => scope.endsWith(':read') || scope === 'partner:create')

interface AccountOption extends JsonOption {
  readonly account: string
}

interface CreateOptions extends AccountOption {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly expires: Date | null
}

interface RotateOptions extends AccountOption {
  readonly overlap: number
  readonly expires?: Date
}

export async function keyCreate(config: Config, options: CreateOptions): Promise<void> {
  const { account, name, scopes: granted, expires } = options
  const created = await changeAccount(config, account, 'key', (transaction, scope) =>
    createKey(transaction, scope, operator(), { name, scopes: granted, expiresAt: expires }),
  )
  printKey(created, account, options)
}

export async function keyRotate(config: Config, keyId: string, options: RotateOptions): Promise<void> {
  const { account, overlap, expires } = options
  const { created, old } = await changeAccount(config, account, 'key', (transaction, scope) =>
    rotateKey(transaction, scope, operator(), keyId, { overlapSeconds: overlap, expiresAt: expires }),
  )
  printKey(created, account, options)
  if (options.json === true) return
  note(
    old.state === 'revoked'
      ? `The old key ${keyId} is revoked.`
      : `The old key ${keyId} is valid until ${formatTime(old.expiresAt)}.`,
  )
}

/** Only the key is written to stdout, so that a script can read it. */
function printKey(created: NewKey, account: string, options: JsonOption): void {
  if (options.json === true) {
    printJson({ account, key: created.key, ...keyJson(created) })
    return
  }
  printLine(created.key)
  note(
    `Key ${created.keyId} of ${account}: ${created.scopes.join(', ')}; expires ${formatTime(created.expiresAt)}.`,
  )
  note('The key is shown only now; the database stores its hash.')
}

export async function keyList(
  config: Config,
  options: AccountOption & { readonly limit: number },
): Promise<void> {
  const { account, limit } = options
  const found = await asOwner(config, async (client) =>
    listKeys(client, await accountNamed(client, account), limit + 1),
  )
  const shown = found.slice(0, limit)
  if (options.json === true) {
    printJson({ account, keys: shown.map(keyJson), more: found.length > limit })
    return
  }
  const rows = shown.map((key) => [
    key.keyId,
    key.state,
    formatTime(key.createdAt),
    formatTime(key.expiresAt),
    key.lastUsedOn ?? 'never',
    key.scopes.join(','),
    key.name,
  ])
  if (rows.length > 0)
    printTable(['KEY ID', 'STATE', 'CREATED', 'EXPIRES', 'LAST USE', 'SCOPES', 'NAME'], rows)
  else
    note(`${account} has no keys. To create one: quartermaster key create --account ${account} --name TEXT`)
  if (found.length > limit)
    note(`Older keys: quartermaster key list --account ${account} --limit ${limit * 10}`)
}

export async function keyRevoke(config: Config, keyId: string, options: AccountOption): Promise<void> {
  const { account } = options
  const key = await changeAccount(config, account, 'key', (transaction, scope) =>
    revokeKey(transaction, scope, operator(), keyId),
  )
  if (options.json === true) printJson({ account, ...keyJson(key) })
  else printLine(`Key ${key.keyId} of ${account} (${key.name}) was revoked at ${formatTime(key.revokedAt)}.`)
}
