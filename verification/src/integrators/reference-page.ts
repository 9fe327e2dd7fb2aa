import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, type Page } from 'playwright-core'
import { type Resource, resources } from '../../../server/src/catalog/resources.ts'
import { demoCompanies, demoPartners, demoProducts } from '../../../server/src/cli/demo/demo-data.ts'
import { resourcePath } from '../../../server/src/http/paths.ts'
import { importRecords } from '../../../server/src/import/import-records.ts'
import type { Check } from '../check.ts'
import { Service } from '../service.ts'
import { layoutFaults, widths } from './reference-layout.ts'
import { runSamples, type Sample } from './reference-samples.ts'

const picture = fileURLToPath(new URL('../../../verification/out/reference.png', import.meta.url))
const browserPath = '/usr/bin/chromium'

interface Operation {
  readonly summary: string
  readonly 'x-codeSamples': readonly Sample[]
}

/**
 * Opens the reference in a browser: every operation is visible with its first sample, there are no requests to another host
 * and no console messages, every error has its page, and the layout is legible at two widths. Then runs every sample against the same service.
 */
export const referencePage: Check = {
  name: 'reference_page',
  bound: '0 faults',
  async run(context) {
    const service = await Service.start()
    try {
      const key = await service.account('acme')
      const load = { ownerUrl: service.postgres.url, account: 'acme' }
      await importRecords({ ...load, resource: 'product', records: demoProducts(200) })
      await importRecords({ ...load, resource: 'partner', records: demoPartners(50) })
      await importRecords({ ...load, resource: 'company', records: demoCompanies(5) })
      const { port } = await service.serve({
        QUARTERMASTER_DEFAULT_ACCOUNT: 'acme',
        QUARTERMASTER_WEBHOOK_SECRET: 'a-master-key-of-at-least-32-characters',
      })
      const operations = await operationsAt(port)
      const inspected = await inspect(port, operations)
      const samples = operations.flatMap((operation) => operation['x-codeSamples'])
      const admin = new Administrator(port, key)
      const keyed = new KeyedRecords(admin)
      await keyed.declareFields()
      const environment = {
        BASE_URL: `http://127.0.0.1:${port}`,
        KEY: key,
        KEY_ID: await admin.create('/manage/v1/keys', 'key_id', {
          name: 'samples',
          scopes: ['product:read'],
        }),
        // Its receiver does not exist.
        WEBHOOK_ID: await admin.create('/manage/v1/webhooks', 'id', {
          resource: 'product',
          url: 'https://receiver.invalid/hook',
        }),
        FIELD_ID: await admin.create('/manage/v1/fields', 'id', {
          resource: 'company',
          name: 'x_sample',
          type: 'text',
        }),
      }
      const ran = await runSamples(context, samples, service.folder, environment, () => keyed.create())
      const faults = [...inspected.faults, ...ran.faults]
      return {
        value: `${faults.length} (${inspected.seen} operations seen, ${ran.count} samples run)`,
        samples: Math.min(inspected.seen, ran.count),
        ok: faults.length === 0 && inspected.seen > 0 && ran.count > 0,
        note: faults.slice(0, 20).join('\n'),
      }
    } finally {
      await service.stop()
    }
  },
}

/** The records that samples address by a unique field: each must exist when its sample runs, and one of them deletes it. */
class KeyedRecords {
  readonly #admin: Administrator
  readonly #paths: readonly string[]

  constructor(admin: Administrator) {
    this.#admin = admin
    this.#paths = Object.values(resources).map((resource) => {
      const { name, example } = uniqueFieldOf(resource)
      return `${resourcePath(resource)}/${name}/${encodeURIComponent(String(example))}`
    })
  }

  async declareFields(): Promise<void> {
    for (const resource of Object.values(resources)) {
      // The first field of a resource would take half a minute to become unique.
      await this.#admin.send('POST', '/manage/v1/fields', {
        resource: resource.name,
        name: 'x_first',
        type: 'text',
      })
      const { name } = uniqueFieldOf(resource)
      await this.#admin.send('POST', '/manage/v1/fields', { resource: resource.name, name, unique: true })
    }
  }

  async create(): Promise<void> {
    for (const path of this.#paths)
      await this.#admin.send('PATCH', path, {
        name: 'sample',
        ...(path.includes('company') ? { branch_user: 'sample' } : {}),
      })
  }
}

function uniqueFieldOf({ plural, fields }: Resource) {
  const field = fields.find(({ canBeUnique }) => canBeUnique)
  if (field === undefined) throw new Error(`no field of ${plural} can be unique`)
  return field
}

/** Sends requests with the key of the account. */
class Administrator {
  readonly #origin: string
  readonly #key: string

  constructor(port: number, key: string) {
    this.#origin = `http://127.0.0.1:${port}`
    this.#key = key
  }

  /** Returns the member `data` of the response. */
  async send(method: string, path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    const response = await fetch(this.#origin + path, {
      method,
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`)
    const { data }: { data: Readonly<Record<string, unknown>> } = JSON.parse(text)
    return data
  }

  /** Something that the samples may change and delete. */
  async create(path: string, member: string, body: object): Promise<string> {
    return String((await this.send('POST', path, body))[member])
  }
}

async function operationsAt(port: number): Promise<readonly Operation[]> {
  const response = await fetch(`http://127.0.0.1:${port}/openapi.json`)
  const { paths }: { paths: Record<string, Record<string, Operation>> } = JSON.parse(await response.text())
  return Object.values(paths).flatMap((methods) => Object.values(methods))
}

async function inspect(
  port: number,
  operations: readonly Operation[],
): Promise<{ seen: number; faults: string[] }> {
  const origin = `http://acme.localhost:${port}`
  const faults: string[] = []
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 860 } })
    page.on('request', (request) => {
      const { protocol, origin: requested } = new URL(request.url())
      if (protocol !== 'data:' && protocol !== 'blob:' && requested !== origin)
        faults.push(`request to another host: ${request.url()}`)
    })
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        faults.push(`console message: ${message.text()}`)
    })
    page.on('pageerror', (error) => faults.push(`page error: ${error.message}`))
    page.on('response', (response) => {
      if (response.status() >= 400) faults.push(`${response.status()}: ${response.url()}`)
    })
    await page.goto(`${origin}/reference`, { waitUntil: 'networkidle' })
    let seen = 0
    for (const operation of operations) {
      const fault = await missing(page, operation)
      if (fault === undefined) seen += 1
      else faults.push(fault)
      if (operation === operations[0]) {
        mkdirSync(fileURLToPath(new URL('../../../verification/out/', import.meta.url)), { recursive: true })
        await page.screenshot({ path: picture })
      }
    }
    faults.push(...(await errorPages(page, origin)))
    for (const width of widths) {
      await page.setViewportSize({ width, height: 860 })
      for (const path of ['/reference', '/reference/errors', '/reference/errors/request_invalid']) {
        await page.goto(`${origin}${path}`, { waitUntil: 'networkidle' })
        faults.push(...(await layoutFaults(page, path)))
      }
    }
    return { seen, faults }
  } finally {
    await browser.close()
  }
}

/** Follows the link in the sidebar. */
async function missing(
  page: Page,
  { summary, 'x-codeSamples': [sample] }: Operation,
): Promise<string | undefined> {
  try {
    await page.getByRole('link', { name: summary }).first().click({ timeout: 120_000 })
    await page.getByRole('heading', { name: summary }).first().waitFor({ timeout: 120_000 })
    const code = sample?.source.split('\n')[0] ?? ''
    await page.getByText(code.slice(0, 40)).first().waitFor({ timeout: 120_000 })
    return undefined
  } catch (error) {
    return `${summary} is not visible: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`
  }
}

/** Every error in the list has a page with its code as the heading. */
async function errorPages(page: Page, origin: string): Promise<string[]> {
  const faults: string[] = []
  const response = await page.goto(`${origin}/reference/errors`)
  const codes = await page.locator('td a code').allTextContents()
  if (response?.status() !== 200 || codes.length < 15) return ['the list of errors is missing']
  for (const code of codes) {
    await page.goto(`${origin}/reference/errors/${code}`)
    const heading = await page.getByRole('heading', { level: 1 }).textContent()
    if (!heading?.startsWith(code)) faults.push(`the page of ${code} has the heading ${heading}`)
  }
  return faults
}
