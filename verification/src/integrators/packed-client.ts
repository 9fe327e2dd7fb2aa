import { once } from 'node:events'
import { createReadStream, existsSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'
import type { Check } from '../check.ts'
import { type Fixture, smallFixture } from './client-fixture.ts'
import { output, type Packed, packed, tsc7, tsc59, vite } from './packed.ts'
import * as programs from './programs.ts'

/** Installs, compiles and runs the packed client in empty projects. Each requests a list from a running service. */
export const packedClient: Check = {
  name: 'packed_client',
  bound: 'works in 8 empty projects (quick: 6)',
  async run(context) {
    const [archive, fixture] = [await packed(context), await smallFixture(context)]
    const projects: Record<string, () => Promise<string>> = {
      'Node, ESM': () => inNode(archive, fixture, 'esm', 'main.mjs', programs.esm),
      'Node, CommonJS': () => inNode(archive, fixture, 'commonjs', 'main.cjs', programs.commonJs),
      'TypeScript 5.9': () =>
        compiled(archive, fixture, 'ts59', tsc59, programs.tsconfig('nodenext', 'nodenext')),
      'TypeScript 7': () =>
        compiled(archive, fixture, 'ts7', tsc7, programs.tsconfig('nodenext', 'nodenext')),
      'TypeScript 7, bundler': () =>
        compiled(archive, fixture, 'ts7b', tsc7, programs.tsconfig('esnext', 'bundler')),
      'Vite, Chromium': () => inBrowser(archive, fixture),
    }
    if (!context.quick) {
      projects['Deno'] = () => inDeno(archive, fixture)
      projects['Bun'] = () => inBun(archive, fixture)
    }
    const wrong: string[] = []
    for (const [name, run] of Object.entries(projects)) {
      context.log(name)
      const printed = await run().catch(String)
      if (printed.trim() !== programs.expected) wrong.push(`${name}: ${printed}`)
    }
    const flaws = await lint(archive)
    const count = Object.keys(projects).length
    return {
      value: `${count - wrong.length} of ${count}, publint ${flaws.length === 0 ? 'clean' : 'not clean'}`,
      samples: count,
      ok: wrong.length === 0 && flaws.length === 0,
      ...(wrong.length + flaws.length === 0 ? {} : { note: [...wrong, ...flaws].join('\n') }),
    }
  },
}

async function inNode(
  archive: Packed,
  { baseUrl, key }: Fixture,
  name: string,
  file: string,
  program: string,
): Promise<string> {
  const folder = await archive.project(name, { 'package.json': '{"private":true}', [file]: program })
  return await output(process.execPath, [file, baseUrl, key], folder)
}

/** With only the permissions that a list needs: to read the modules and to connect to the service. */
async function inDeno(archive: Packed, { baseUrl, key }: Fixture): Promise<string> {
  const deno = await archive.runtime('deno@2')
  const folder = await archive.project('deno', {
    'package.json': '{"private":true,"type":"module"}',
    'main.ts': programs.deno,
  })
  const allowed = ['--allow-read=.', `--allow-net=${new URL(baseUrl).host}`, '--no-prompt']
  return await output(deno, ['run', '--quiet', '--check', ...allowed, 'main.ts', baseUrl, key], folder)
}

async function inBun(archive: Packed, { baseUrl, key }: Fixture): Promise<string> {
  const bun = await archive.runtime('bun@1')
  const folder = await archive.project('bun', {
    'package.json': '{"private":true,"type":"module"}',
    'main.ts': programs.typescript,
  })
  return await output(bun, ['run', 'main.ts', baseUrl, key], folder)
}

async function compiled(
  archive: Packed,
  { baseUrl, key }: Fixture,
  name: string,
  tsc: string,
  tsconfig: string,
): Promise<string> {
  const files = {
    'package.json': '{"private":true,"type":"module"}',
    'main.ts': programs.typescript,
    'tsconfig.json': tsconfig,
  }
  const folder = await archive.project(name, files)
  await output(process.execPath, [tsc, '-p', '.'], folder)
  return await output(process.execPath, ['out/main.js', baseUrl, key], folder)
}

async function inBrowser(archive: Packed, { server, key }: Fixture): Promise<string> {
  const files = {
    'package.json': '{"private":true,"type":"module"}',
    'main.js': programs.browser(key),
    'index.html': programs.page,
  }
  const folder = await archive.project('vite', files)
  await output(process.execPath, [vite, 'build', '--logLevel', 'error'], folder)
  const site = sameOrigin(join(folder, 'dist'), server.port)
  const port = await freePort()
  site.listen(port, '127.0.0.1')
  await once(site, 'listening')
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
    existsSync,
  )
  if (executablePath === undefined) throw new Error('Chromium is not installed: apt-get install chromium')
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
  try {
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${port}/`)
    await page.waitForFunction("document.title !== 'waiting'")
    return await page.title()
  } finally {
    await browser.close()
    site.closeAllConnections()
    site.close()
  }
}

/** Serves the built page and forwards `/api/` to the service, so that both have the same origin. */
function sameOrigin(dist: string, port: number) {
  return createServer((incoming, response) => {
    const { method, url = '/', headers } = incoming
    if (!url.startsWith('/api/')) {
      const file = join(dist, url === '/' ? 'index.html' : url)
      if (!existsSync(file)) return response.writeHead(404).end()
      response.setHeader('content-type', file.endsWith('.js') ? 'text/javascript' : 'text/html')
      return createReadStream(file).pipe(response)
    }
    const upstream = request({ host: '127.0.0.1', port, method, path: url, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(response)
    })
    upstream.on('error', () => response.writeHead(502).end())
    return incoming.pipe(upstream)
  })
}

async function lint(archive: Packed): Promise<string[]> {
  const folder = await archive.project('publint', { 'package.json': '{"private":true}' })
  const { messages, pkg } = await publint({
    pkgDir: join(folder, 'node_modules/@quartermaster/client'),
    pack: false,
    strict: true,
  })
  return messages.map((message) => formatMessage(message, pkg) ?? message.code)
}
