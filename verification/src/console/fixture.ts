import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { demoCompanies, demoPartners, demoProducts } from '../../../server/src/cli/demo/demo-data.ts'
import { importRecords } from '../../../server/src/import/import-records.ts'
import { Receiver, receiverAddress } from '../../../server/test/webhook-receiver.ts'
import { type Stoppable, shared } from '../check.ts'
import { type ServerProcess, Service } from '../service.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
export const dist = `${root}console/dist/`

export const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
]

/** Evaluated in the page: everything that outlives it, except session storage. */
const storedTexts =
  'JSON.stringify([localStorage, history.state, document.cookie, location.href, document.referrer])'

/** The messages of `reportViolations` begin with this. */
export const violationPrefix = 'policy violation:'

/** Evaluated in the page: names the directive, the source and the element of everything that the policy blocks. */
export const reportViolations = `document.addEventListener('securitypolicyviolation', (event) => {
  const { effectiveDirective, blockedURI, sourceFile, lineNumber, sample } = event
  const [element] = event.composedPath()
  const html = element instanceof Element ? element.outerHTML.slice(0, 200) : ''
  const details = { effectiveDirective, blockedURI, sourceFile, lineNumber, sample, element: html, page: location.pathname }
  console.error('${violationPrefix} ' + JSON.stringify(details))
})`

export interface PageOptions {
  readonly key?: string
  readonly scheme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
  /** Default: that of this machine. */
  readonly timezone?: string
  /** The first language of the browser. Default: English. */
  readonly locale?: string
  readonly forcedColors?: 'active'
}

/** The built console, served by a real service with an account, in Chromium. Records what every page does. */
export class ConsoleFixture implements Stoppable {
  readonly service: Service
  readonly server: ServerProcess
  readonly browser: Browser
  readonly key: string
  /** May only read products. */
  readonly readerKey: string
  readonly products: number
  /** Receives webhooks, over HTTPS. */
  readonly receiver: Receiver
  /** Every address that was requested, every message of the browser's console, every stored text. */
  readonly urls: string[] = []
  readonly messages: string[] = []
  readonly stored: string[] = []

  private constructor(
    parts: Pick<
      ConsoleFixture,
      'service' | 'server' | 'browser' | 'key' | 'readerKey' | 'products' | 'receiver'
    >,
  ) {
    this.service = parts.service
    this.server = parts.server
    this.browser = parts.browser
    this.key = parts.key
    this.readerKey = parts.readerKey
    this.products = parts.products
    this.receiver = parts.receiver
  }

  static async start(products: number): Promise<ConsoleFixture> {
    execFileSync(process.execPath, [`${root}console/build.ts`], { stdio: 'ignore' })
    const service = await Service.start()
    const receiver = new Receiver()
    try {
      await receiver.start()
      const key = await service.account('acme')
      const readerKey = await service.key('acme', 'product:read')
      const load = { ownerUrl: service.postgres.url, account: 'acme' }
      await importRecords({ ...load, resource: 'product', records: demoProducts(products) })
      await importRecords({ ...load, resource: 'partner', records: demoPartners(500) })
      await importRecords({ ...load, resource: 'company', records: demoCompanies(12) })
      const server = await service.serve({
        QUARTERMASTER_DEFAULT_ACCOUNT: 'acme',
        QUARTERMASTER_LOG_LEVEL: 'debug',
        QUARTERMASTER_WEBHOOK_SECRET: 'a-master-key-of-at-least-32-characters',
        QUARTERMASTER_WEBHOOK_NETWORKS: receiverAddress,
        NODE_EXTRA_CA_CERTS: receiver.authorityFile,
      })
      const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags })
      return new ConsoleFixture({ service, server, browser, key, readerKey, products, receiver })
    } catch (error) {
      await service.stop()
      await receiver.stop()
      throw error
    }
  }

  get origin(): string {
    return `http://acme.localhost:${this.server.port}`
  }

  /** Runs with a new page in a browser profile of its own, signed in unless there is no key. */
  async withPage<T>(options: PageOptions, run: (page: Page) => Promise<T>): Promise<T> {
    const context = await this.browser.newContext({
      viewport: {
        width: options.width ?? 1280,
        height: options.height ?? (options.width === 390 ? 844 : 800),
      },
      colorScheme: options.scheme ?? 'light',
      locale: options.locale ?? 'en-GB',
      forcedColors: options.forcedColors ?? 'none',
      permissions: ['clipboard-read', 'clipboard-write'],
      acceptDownloads: true,
      ...(options.timezone === undefined ? {} : { timezoneId: options.timezone }),
    })
    try {
      const page = await context.newPage()
      page.on('request', (request) => this.urls.push(request.url()))
      page.on('framenavigated', (frame) => this.urls.push(frame.url()))
      page.on('console', (message) => this.messages.push(message.text()))
      page.on('pageerror', (error) => this.messages.push(`page error: ${error.message}`))
      await page.addInitScript(reportViolations)
      // Chromium's file picker cannot be driven; without it the console saves through a link.
      await page.addInitScript('delete window.showSaveFilePicker')
      if (options.key !== undefined) {
        await page.addInitScript(
          `sessionStorage.setItem('quartermaster.key', ${JSON.stringify(options.key)})`,
        )
      }
      return await run(page)
    } finally {
      for (const page of context.pages()) {
        this.stored.push(await page.evaluate<string>(storedTexts).catch(() => ''))
      }
      await context.close()
    }
  }

  /** Sends a request as an administrator. */
  async get(path: string): Promise<{ status: number; body: string }> {
    const response = await fetch(`http://127.0.0.1:${this.server.port}${path}`, {
      headers: { authorization: `Bearer ${this.key}` },
    })
    return { status: response.status, body: await response.text() }
  }

  /** Creates something as an administrator, and returns its id. */
  async post(path: string, body: unknown = {}): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${this.server.port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text}`)
    const { data }: { data: { id?: string; key_id?: string } } = JSON.parse(text)
    return data.id ?? data.key_id ?? ''
  }

  /** Changes a record as an administrator. */
  async patch(path: string, body: string): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${this.server.port}${path}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/merge-patch+json' },
      body,
    })
    if (!response.ok) throw new Error(`PATCH ${path}: ${response.status} ${await response.text()}`)
  }

  get log(): string {
    return readFileSync(this.server.log, 'utf8')
  }

  async stop(): Promise<void> {
    await this.browser.close()
    await this.service.stop()
    await this.receiver.stop()
  }
}

export const consoleFixture = shared((context) => ConsoleFixture.start(context.size(100_000, 2_000)))
