import { randomBytes } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import { createAccount } from '../../accounts/account-changes.ts'
import { createKey, revokeKey } from '../../accounts/api-keys.ts'
import { findAccount, showAccount } from '../../accounts/directory.ts'
import { scopes } from '../../accounts/key-format.ts'
import { resources } from '../../catalog/resources.ts'
import type { Config } from '../../config/config.ts'
import { importRecords } from '../../import/import-records.ts'
import { noTotals } from '../../import/import-rows.ts'
import { logTo } from '../../observability/logger.ts'
import type { Connection } from '../../postgres/connection.ts'
import { migrate } from '../../postgres/migrations/migrate.ts'
import { inTransaction } from '../../postgres/transaction.ts'
import { startService } from '../../service.ts'
import { installedOrEmbeddedPostgres } from '../database/embedded-postgres.ts'
import { asOwner, explainErrors, ownerUrl } from '../database/owner.ts'
import { startTemporaryPostgres } from '../database/temporary-postgres.ts'
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
 * Browsers and curl resolve every host below `localhost` to this machine; Node and Python do not. Therefore the demo's
 * account is also the default account, and every address that the demo prints has the IP address.
 */
const serviceDomain = 'localhost'
/** The key is revoked when the demo ends. It expires in case the demo is killed. */
const keyLifetimeMs = 7 * 86_400_000

/** Serves an account with generated data. Starts a temporary PostgreSQL if DATABASE_URL is not set. */
export async function demoCommand(config: Config, options: DemoOptions): Promise<void> {
  if (config.DATABASE_URL !== undefined) return await demoOn(config, config.DATABASE_URL, options)
  const bin = await installedOrEmbeddedPostgres()
  note('Starting a temporary PostgreSQL …')
  const postgres = await startTemporaryPostgres({ synchronous_commit: 'off' }, bin)
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
  const owner = ownerUrl(config)
  await explainErrors(owner, () => migrate(owner.url, { log: note }))
  await asOwner(config, (client) => prepareAccount(client, owner.url, options))
  // From here on a signal ends the demo in order: it must not leave a valid key behind.
  const { promise: failed, resolve: fail } = Promise.withResolvers<void>()
  const signalled = untilSignal(failed)
  try {
    await serveDemo(config, databaseUrl, options, signalled)
  } finally {
    fail()
  }
}

async function serveDemo(
  config: Config,
  databaseUrl: string,
  options: DemoOptions,
  signalled: Promise<unknown>,
): Promise<void> {
  const { account } = options
  const key = await asOwner(config, (client) => createDemoKey(client, account))
  try {
    const service = await startService(
      {
        // Webhooks of an earlier demo on the same database have other secrets.
        QUARTERMASTER_WEBHOOK_SECRET: randomBytes(24).toString('base64url'),
        ...config,
        QUARTERMASTER_DOMAIN: serviceDomain,
        QUARTERMASTER_DEFAULT_ACCOUNT: account,
      },
      { databaseUrl, host: config.QUARTERMASTER_HOST, port: options.port, log: logTo('warn', 'stderr') },
    )
    printUsage(
      {
        host: config.QUARTERMASTER_HOST,
        port: service.port,
        key: key.key,
        databaseUrl: ownerUrl(config).url,
      },
      options,
    )
    await signalled
    await service.close()
  } finally {
    await asOwner(config, async (client) => {
      const found = await findAccount(client, account)
      if (found === undefined) return
      await inTransaction(client, (transaction) => revokeKey(transaction, found, operator(), key.keyId))
    })
  }
}

/** Imports data into empty resources only, so that an interrupted demo is completed and existing data is not changed. */
async function prepareAccount(
  client: Connection,
  url: string,
  { account, products }: DemoOptions,
): Promise<void> {
  if ((await findAccount(client, account)) === undefined) await createAccount(client, operator(), account)
  const { tallies } = await showAccount(client, account)
  const counts = { product: products, partner: Math.ceil(products / 5), company: Math.min(products, 12) }
  for (const { resource, total } of tallies) {
    if (total > 0 || counts[resource] === 0) continue
    const count = counts[resource]
    note(`Creating ${grouped(count)} ${resources[resource].plural} …`)
    const totals = noTotals()
    const endProgress = showProgress(process.stderr, resources[resource].plural, () => ({
      done: totals.read,
      fraction: totals.read / count,
    }))
    try {
      // As from an ERP, so that the guides can send rows with ids.
      const records = demoRecords[resource](count)
      await importRecords({ ownerUrl: url, account, resource, mode: 'upsert', records, totals })
    } finally {
      endProgress()
    }
  }
}

async function createDemoKey(client: Connection, account: string) {
  const scope = await showAccount(client, account)
  const parameters = { name: 'demo', scopes, expiresAt: new Date(Date.now() + keyLifetimeMs) }
  return await inTransaction(client, (transaction) => createKey(transaction, scope, operator(), parameters))
}

interface DemoService {
  readonly host: string
  readonly port: number
  readonly key: string
  readonly databaseUrl: string
}

function printUsage({ host, port, key, databaseUrl }: DemoService, { account, json }: DemoOptions): void {
  const baseUrl = `http://${addressOf(host)}:${port}`
  const accountHost = `${account}.${serviceDomain}`
  if (json === true) {
    printJson({ base_url: baseUrl, account, account_host: accountHost, key })
    return
  }
  printLine(`
Quartermaster serves the account ${account} at ${baseUrl}

  curl -H 'Authorization: Bearer ${key}' '${baseUrl}/api/v1/inventory/product?limit=2'

  ${baseUrl}/console     the console: browse, filter, export; sign in with this key
  ${baseUrl}/reference   API reference; open it in a browser to send requests

As in production, the account also has its own host: send 'Host: ${accountHost}' to the same address.
The key has all scopes and is valid until the demo ends. Press Ctrl-C to stop.
To use the other commands, run this in another terminal:

  export DATABASE_URL=${withoutPassword(databaseUrl)}`)
}

/** The address at which this machine reaches a service that listens at `host`: the loopback address for a wildcard. */
function addressOf(host: string): string {
  if (isIPv4(host) && host !== '0.0.0.0') return host
  return isIPv6(host) && host !== '::' ? `[${host}]` : '127.0.0.1'
}

/** Hides the password, because others may see the terminal. */
function withoutPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  if (url.password !== '') url.password = 'PASSWORD'
  return url.href
}
