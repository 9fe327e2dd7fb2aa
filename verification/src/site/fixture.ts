import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { addressOf, pages } from '../../../site/pages.ts'
import { browserPath } from '../capabilities.ts'
import { type Stoppable, shared } from '../check.ts'
import { flags, reportViolations } from '../console/fixture.ts'
import { type ServerProcess, Service } from '../service.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
export const dist = `${root}site/dist/`

export interface PageOptions {
  readonly scheme?: 'light' | 'dark'
  readonly width?: number
}

/** The built site, served by a real service, in Chromium. Records what every page requests and reports. */
export class SiteFixture implements Stoppable {
  readonly service: Service
  readonly server: ServerProcess
  readonly browser: Browser
  readonly urls: string[] = []
  readonly messages: string[] = []

  private constructor(parts: Pick<SiteFixture, 'service' | 'server' | 'browser'>) {
    this.service = parts.service
    this.server = parts.server
    this.browser = parts.browser
  }

  static async start(): Promise<SiteFixture> {
    execFileSync(process.execPath, [`${root}site/build.ts`], { stdio: 'pipe' })
    const service = await Service.start()
    try {
      const server = await service.serve()
      const browser = await chromium.launch({ executablePath: browserPath, args: flags })
      return new SiteFixture({ service, server, browser })
    } catch (error) {
      await service.stop()
      throw error
    }
  }

  get origin(): string {
    return `http://acme.localhost:${this.server.port}`
  }

  /** The address of the page of a Markdown file. */
  pageUrl(file: string): string {
    return `${this.origin}/docs/${addressOf(file)}`
  }

  /** Fetches as a client without a browser. `path` begins with a slash. */
  async get(path: string): Promise<{ status: number; body: string }> {
    const response = await fetch(`http://127.0.0.1:${this.server.port}${path}`)
    return { status: response.status, body: await response.text() }
  }

  /** Runs with a new page in a browser profile of its own. */
  async withPage<T>({ scheme, width = 1280 }: PageOptions, run: (page: Page) => Promise<T>): Promise<T> {
    const context = await this.browser.newContext({
      viewport: { width, height: width === 390 ? 844 : 800 },
      colorScheme: scheme ?? 'light',
      reducedMotion: 'reduce',
    })
    try {
      const page = await context.newPage()
      page.on('request', (request) => this.urls.push(request.url()))
      page.on('console', (message) => this.messages.push(message.text()))
      page.on('pageerror', (error) => this.messages.push(`page error: ${error.message}`))
      await page.addInitScript(reportViolations)
      return await run(page)
    } finally {
      await context.close()
    }
  }

  async stop(): Promise<void> {
    await this.browser.close()
    await this.service.stop()
  }
}

export const siteFixture = shared(() => SiteFixture.start())

/** The addresses of all pages that are built from Markdown files of the repository. */
export const addresses: readonly string[] = pages.map((file) => `/docs/${addressOf(file)}`)

/** All built pages, with those of sources, and without the page for wrong addresses. */
export const builtPages = (): string[] =>
  readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.html') && name !== '404.html',
  )
