import { isIPv4, isIPv6 } from 'node:net'
import type pg from 'pg'
import { createKey, revokeKey } from '../../accounts/api-keys.ts'
import { createAccount, findAccount, showAccount } from '../../accounts/directory.ts'
import { scopes } from '../../accounts/key-format.ts'
import { resources } from '../../catalog/resources.ts'
import type { Config } from '../../config.ts'
import { importRecords } from '../../import/import-records.ts'
import { noTotals } from '../../import/import-rows.ts'
import { logTo } from '../../observability/logger.ts'
import { migrate } from '../../postgres/migrate.ts'
import { inTransaction } from '../../postgres/transaction.ts'
import { startService } from '../../service.ts'
import { asOwner, explainErrors, ownerUrl } from '../database/owner.ts'
import { startThrowawayPostgres } from '../database/throwaway-postgres.ts'
import { operator } from '../operator.ts'
import { note, printJson, printLine } from '../print.ts'
import { grouped, showProgress } from '../progress.ts'
import { untilSignal } from '../until-signal.ts'
import { demoRecords } from './demo-data.ts'

interface DemoOptions {
  readonly products: number
  readonly port: number
  readonly account: string
  readonly json?: boolean
}

/**
 * Browsers and curl take every host below `localhost` for this machine; the resolvers of Node and Python do not. So the
 * demo's account is also the default one, and the demo prints the IP address, which needs no resolver.
 */
const serviceDomain = 'localhost'
/** The key is revoked when the demo ends; this is for a demo that was killed. */
const keyMs = 7 * 86_400_000

/** A service to try, with data to look at. On a database of its own where none is named. */
export async function demoCommand(config: Config, options: DemoOptions): Promise<void> {
  if (config.DATABASE_URL !== undefined) return await demoOn(config, config.DATABASE_URL, options)
  note('Starting a PostgreSQL for the demo …')
  const postgres = await startThrowawayPostgres({ synchronous_commit: 'off' })
  try {
    await demoOn(
      { ...config, DATABASE_URL: postgres.url, DATABASE_OWNER_URL: postgres.url },
      postgres.url,
      options,
    )
  } finally {
    await postgres.stop()
  }
}

async function demoOn(config: Config, databaseUrl: string, options: DemoOptions): Promise<void> {
  const { account } = options
  const owner = ownerUrl(config)
  await explainErrors(owner, () => migrate(owner.url, { log: note }))
  const key = await asOwner(config, async (client) => {
    await prepareAccount(client, owner.url, options)
    return await makeKey(client, account)
  })
  try {
    const service = await startService(
      { ...config, SERVICE_DOMAIN: serviceDomain, DEFAULT_ACCOUNT: account },
      { databaseUrl, host: config.HOST, port: options.port, log: logTo('warn') },
    )
    announce({ host: config.HOST, port: service.port, key: key.key, databaseUrl: owner.url }, options)
    await untilSignal()
    await service.close()
  } finally {
    await asOwner(config, async (client) => {
      const found = await findAccount(client, account)
      if (found === undefined) return
      await inTransaction(client, (transaction) => revokeKey(transaction, found, operator(), key.keyId))
    })
  }
}

/** Fills what is empty, so that a demo broken off half-way is completed, and data of one's own is left alone. */
async function prepareAccount(
  client: pg.Client,
  url: string,
  { account, products }: DemoOptions,
): Promise<void> {
  if ((await findAccount(client, account)) === undefined) await createAccount(client, operator(), account)
  const { tallies } = await showAccount(client, account)
  const counts = { product: products, partner: Math.ceil(products / 5), company: Math.min(products, 12) }
  for (const { resource, total } of tallies) {
    if (total > 0 || counts[resource] === 0) continue
    const count = counts[resource]
    note(`Making ${grouped(count)} ${resources[resource].plural} …`)
    const totals = noTotals()
    const endProgress = showProgress(process.stderr, resources[resource].plural, () => ({
      done: totals.read,
      fraction: totals.read / count,
    }))
    try {
      await importRecords({ ownerUrl: url, account, resource, records: demoRecords[resource](count), totals })
    } finally {
      endProgress()
    }
  }
}

async function makeKey(client: pg.Client, account: string) {
  const scope = await showAccount(client, account)
  const wish = { name: 'demo', scopes, expiresAt: new Date(Date.now() + keyMs) }
  return await inTransaction(client, (transaction) => createKey(transaction, scope, operator(), wish))
}

interface Announced {
  readonly host: string
  readonly port: number
  readonly key: string
  readonly databaseUrl: string
}

function announce({ host, port, key, databaseUrl }: Announced, { account, json }: DemoOptions): void {
  const baseUrl = `http://${addressOf(host)}:${port}`
  const accountUrl = `http://${account}.${serviceDomain}:${port}`
  if (json === true) {
    printJson({ base_url: baseUrl, account_url: accountUrl, account, key })
    return
  }
  printLine(`
Quartermaster serves the account ${account} at ${baseUrl}

  curl -H 'Authorization: Bearer ${key}' '${baseUrl}/api/v1/inventory/product?limit=2'

  ${baseUrl}/reference   in a browser: the API, with requests to try

The account has a host of its own, too, as in production: ${accountUrl}, which browsers and curl find.
The key may do everything and holds until the demo ends. Ctrl-C ends it. For the other commands:

  export DATABASE_URL=${shownUrl(databaseUrl)}`)
}

/** Where this machine reaches a service that listens at `host`. Every address but a wildcard is itself. */
function addressOf(host: string): string {
  if (isIPv4(host) && host !== '0.0.0.0') return host
  return isIPv6(host) && host !== '::' ? `[${host}]` : '127.0.0.1'
}

/** Without its password: the terminal may be seen by others. */
function shownUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  if (url.password !== '') url.password = 'PASSWORD'
  return url.href
}
