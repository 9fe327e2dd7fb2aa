import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import type { Keys } from './environment.ts'
import {
  everyScope,
  type IssuedKey,
  issueKey,
  quartermaster,
  type Running,
  startPostgres,
  startServer,
} from './operator.ts'

const bulkProducts = 2500

/**
 * Provides a running service with the fixtures. To test a service that already runs, set `ACCEPTANCE_BASE_URL`,
 * `ACCEPTANCE_DOMAIN` and `ACCEPTANCE_KEYS` (JSON, as `Keys`). Otherwise the service is started here with the operator's
 * commands, on the empty database `ACCEPTANCE_DATABASE_URL` (with `ACCEPTANCE_DISTRIBUTED=yes` if its tables are distributed) or on a
 * temporary one. To test another form of the service, such
 * as its container image, set `ACCEPTANCE_SERVER` to a program that starts it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const baseUrl = process.env['ACCEPTANCE_BASE_URL']
  if (baseUrl !== undefined) {
    const keys: Keys = JSON.parse(process.env['ACCEPTANCE_KEYS'] ?? '{}')
    project.provide('target', { baseUrl, domain: process.env['ACCEPTANCE_DOMAIN'] ?? 'localhost', keys })
    return async () => {}
  }
  const started: Running[] = []
  const end = async () => {
    for (const running of started.toReversed()) await running.stop()
  }
  try {
    const databaseUrl = process.env['ACCEPTANCE_DATABASE_URL'] ?? (await temporaryDatabase(started))
    const environment = { DATABASE_URL: databaseUrl }
    await quartermaster(environment, 'migrate')
    const serve = async (settings: Environment) => {
      const running = await startServer({ ...environment, ...settings })
      started.push(running)
      return running
    }
    const server = await serve({ QUARTERMASTER_WEBHOOK_SECRET: 'a-master-key-of-at-least-32-characters' })
    const proxied = await serve({
      QUARTERMASTER_DEFAULT_ACCOUNT: 'acme',
      QUARTERMASTER_TRUSTED_PROXIES: '127.0.0.1',
    })
    const keys = await loadFixtures(environment)
    project.provide('target', {
      baseUrl: server.url,
      domain: 'localhost',
      keys,
      local: {
        databaseUrl,
        proxiedUrl: proxied.url,
        isDistributed: process.env['ACCEPTANCE_DISTRIBUTED'] === 'yes',
      },
    })
    return end
  } catch (error) {
    await end()
    throw error
  }
}

async function temporaryDatabase(started: Running[]): Promise<string> {
  const postgres = await startPostgres()
  started.push(postgres)
  return postgres.url
}

type Environment = Readonly<Record<string, string>>

async function loadFixtures(environment: Environment): Promise<Keys> {
  const createAccount = async (account: string, ...options: readonly string[]) => {
    await quartermaster(environment, 'account', 'create', account, ...options)
    return (await issueKey(environment, account, 'everything')).key
  }
  const load = async (resource: string, file: string, account: string) => {
    const path = fileURLToPath(new URL(`fixtures/${file}`, import.meta.url))
    await quartermaster(environment, 'import', resource, path, '--account', account)
  }
  const [acme, rest] = await Promise.all([
    createAccount('acme').then(async (key) => {
      await load('product', 'acme-products.csv', 'acme')
      await load('partner', 'acme-partners.ndjson', 'acme')
      await load('company', 'acme-companies.ndjson', 'acme')
      return { acme: key, ...(await acmeKeys(environment)) }
    }),
    (async () => {
      const globex = await createAccount('globex')
      await load('product', 'globex-products.ndjson', 'globex')
      await load('partner', 'globex-partners.csv', 'globex')
      const initech = await createAccount('initech', '--ids', 'external')
      const bulk = await createAccount('bulk')
      await loadBulk(environment)
      const keyed = await createAccount('keyed')
      const suspended = await createAccount('hooli')
      await quartermaster(environment, 'account', 'suspend', 'hooli')
      return { globex, initech, bulk, keyed, suspended }
    })(),
  ])
  return { ...acme, ...rest }
}

async function acmeKeys(environment: Environment) {
  const issue = async (name: string, scopes: readonly string[], ...more: readonly string[]) =>
    issueKey(environment, 'acme', name, scopes, ...more)
  const revoked = await issue('revoked', everyScope)
  const { expired, expiry } = await issueExpiring((expires) =>
    issue('expired', everyScope, '--expires', expires),
  )
  await quartermaster(environment, 'key', 'revoke', revoked.key_id, '--account', 'acme')
  const keys = {
    expired: expired.key,
    revoked: revoked.key,
    productRead: (await issue('products', ['product:read'])).key,
    partnerRead: (await issue('partners', ['partner:read'])).key,
    partnerCreate: (await issue('creates', ['partner:create'])).key,
    companyRead: (await issue('companies', ['company:read'])).key,
    accountManage: (await issue('manages', ['account:manage'])).key,
  }
  await sleep(Math.max(0, expiry - Date.now()))
  return keys
}

/** The service rejects an expiry in the past, and how long the command takes depends on the machine. */
async function issueExpiring(issue: (expires: string) => Promise<IssuedKey>) {
  for (let aheadMs = 4_000; ; aheadMs *= 2) {
    const expiry = Date.now() + aheadMs
    try {
      return { expired: await issue(new Date(expiry).toISOString()), expiry }
    } catch (error) {
      if (Date.now() < expiry || aheadMs > 600_000) throw error
    }
  }
}

async function loadBulk(environment: Environment): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'acceptance-'))
  try {
    const filler = 'a name long enough to make a search slow '.repeat(4)
    const rows = Array.from({ length: bulkProducts }, (_, i) => `${i + 1},${filler}${i + 1},${i + 1}`)
    const file = join(folder, 'bulk.csv')
    await writeFile(file, `id,name,list_price\n${rows.join('\n')}\n`)
    await quartermaster(environment, 'import', 'product', file, '--account', 'bulk')
  } finally {
    await rm(folder, { recursive: true })
  }
}
