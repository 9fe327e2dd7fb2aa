import { accountNamed } from '../accounts/accounts.ts'
import { type Scope, scopes } from '../accounts/key.ts'
import { createKey, type Key, listKeys, revokeKey } from '../accounts/keys.ts'
import type { Config } from '../config.ts'
import type { JsonOption } from './account-command.ts'
import { asOwner } from './owner.ts'
import { moment, note, printJson, printLine, printTable } from './print.ts'

/** What an integration needs. To manage the account is given only to a key that was asked to. */
export const defaultScopes = scopes.filter((scope) => scope !== 'account:manage')

interface AccountOption extends JsonOption {
  readonly account: string
}

interface CreateOptions extends AccountOption {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly expires: Date | null
}

export async function keyCreate(config: Config, options: CreateOptions): Promise<void> {
  const { account, name, scopes: granted, expires } = options
  const made = await asOwner(config, async (client) =>
    createKey(client, await accountNamed(client, account), { name, scopes: granted, expiresAt: expires }),
  )
  if (options.json === true) {
    printJson({ account, key: made.key, ...keyJson(made) })
  } else {
    // The key alone on stdout, so that a script can take it as it is.
    printLine(made.key)
    note(`Key ${made.keyId} of ${account}: ${made.scopes.join(', ')}; expires ${moment(made.expiresAt)}.`)
    note('It is shown this once; only its hash is kept.')
  }
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
    moment(key.createdAt),
    moment(key.expiresAt),
    key.scopes.join(','),
    key.name,
  ])
  if (rows.length > 0) printTable(['KEY ID', 'STATE', 'CREATED', 'EXPIRES', 'SCOPES', 'NAME'], rows)
  else
    note(`${account} has no keys. \`quartermaster key create --account ${account} --name TEXT\` makes one.`)
  if (found.length > limit)
    note(`There are older ones: quartermaster key list --account ${account} --limit ${limit * 10}`)
}

export async function keyRevoke(config: Config, keyId: string, options: AccountOption): Promise<void> {
  const { account } = options
  const key = await asOwner(config, async (client) =>
    revokeKey(client, await accountNamed(client, account), keyId),
  )
  if (options.json === true) printJson({ account, ...keyJson(key) })
  else printLine(`Key ${key.keyId} of ${account} (${key.name}) is revoked since ${moment(key.revokedAt)}.`)
}

function keyJson(key: Key) {
  return {
    key_id: key.keyId,
    name: key.name,
    scopes: key.scopes,
    state: key.state,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
  }
}
