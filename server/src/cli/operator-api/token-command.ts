import { readFileSync } from 'node:fs'
import { runOn } from '../../accounts/lifecycle/run-on.ts'
import {
  createToken,
  listTokens,
  type OperatorScope,
  revokeToken,
  tokenJson,
} from '../../accounts/operators/tokens.ts'
import type { Config } from '../../config/config.ts'
import { UsageError } from '../command-error.ts'
import { asOwner } from '../database/owner.ts'
import { operator } from '../operator.ts'
import { formatTime, note, printJson, printLine, printTable } from '../print.ts'

interface JsonOption {
  readonly json?: boolean
}

export interface TokenCreateOptions extends JsonOption {
  readonly name: string
  readonly scopes: readonly OperatorScope[]
  readonly expires: Date | null
  readonly tokenFile?: string
}

export async function tokenCreate(config: Config, options: TokenCreateOptions): Promise<void> {
  const { name, scopes, expires: expiresAt, tokenFile, json } = options
  const given = tokenFile === undefined ? {} : { token: tokenIn(tokenFile) }
  const created = await asOwner(config, (client) =>
    createToken(runOn(client), operator(), { name, scopes, expiresAt, ...given }),
  )
  // A token from a file is known already, and must not get into the log of a deployment.
  const shown = tokenFile === undefined ? { token: created.token } : {}
  if (json === true) printJson({ ...shown, ...tokenJson(created) })
  else {
    if (tokenFile === undefined) printLine(created.token)
    note(
      `Token ${created.id} (${created.name}): ${created.scopes.join(', ')}; expires ${formatTime(created.expiresAt)}.`,
    )
    if (tokenFile === undefined) note('The token is shown only now; the database stores its hash.')
  }
}

export async function tokenList(config: Config, options: JsonOption): Promise<void> {
  const tokens = await asOwner(config, (client) => listTokens(runOn(client)))
  if (options.json === true) {
    printJson({ tokens: tokens.map(tokenJson) })
    return
  }
  const rows = tokens.map((token) => [
    token.id,
    token.state,
    formatTime(token.createdAt),
    formatTime(token.expiresAt),
    token.scopes.join(','),
    token.name,
  ])
  if (rows.length > 0) printTable(['TOKEN ID', 'STATE', 'CREATED', 'EXPIRES', 'SCOPES', 'NAME'], rows)
  else
    note(
      'There are no operator tokens. To create one: quartermaster operator token create --name TEXT --scopes read',
    )
}

export async function tokenRevoke(config: Config, id: string, options: JsonOption): Promise<void> {
  const token = await asOwner(config, (client) => revokeToken(runOn(client), id))
  if (options.json === true) printJson(tokenJson(token))
  else printLine(`Token ${token.id} (${token.name}) was revoked at ${formatTime(token.revokedAt)}.`)
}

function tokenIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}.`)
  }
}
