import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { afterAll, describe, expect, it } from 'vitest'
import { readSite } from './files.ts'
import { docsRoutes } from './routes.ts'

const folder = `${mkdtempSync(join(tmpdir(), 'quartermaster-site-'))}/`
afterAll(() => rmSync(folder, { recursive: true }))

const texts: Readonly<Record<string, string>> = {
  'index.html': '<!doctype html>start',
  'guides/index.html': '<!doctype html>guides',
  'guides/keep-a-copy.html': '<!doctype html>changes',
  '404.html': '<!doctype html>not found',
  'assets/app.abc.js': 'script()',
}
for (const [name, text] of Object.entries(texts)) {
  mkdirSync(dirname(folder + name), { recursive: true })
  writeFileSync(folder + name, text)
  writeFileSync(`${folder}${name}.gz`, gzipSync(text))
  writeFileSync(`${folder}${name}.br`, brotliCompressSync(text))
}
writeFileSync(`${folder}picture.png`, 'PNG')
writeFileSync(`${folder}secret.js`, 'hidden text')
const files = Object.fromEntries(
  [...Object.keys(texts), 'picture.png'].map((name) => [name, `hash of ${name}`]),
)
writeFileSync(`${folder}manifest.json`, JSON.stringify({ scripts: ['sha256-abc'], files }))

function serve(candidates: readonly string[]) {
  const app = Fastify({ routerOptions: { ignoreTrailingSlash: true } })
  app.setErrorHandler((_error, _request, reply) => reply.code(404).send('problem'))
  for (const [url, handler] of Object.entries(docsRoutes(() => readSite(candidates)))) app.get(url, handler)
  return app
}

describe('the routes of the documentation', () => {
  const app = serve(['/nowhere/', folder])

  it('serve each page at its address, and each folder at its own', async () => {
    for (const [url, text] of [
      ['/docs/', 'start'],
      ['/docs/index.html', 'start'],
      ['/docs/guides/', 'guides'],
      ['/docs/guides/keep-a-copy.html', 'changes'],
    ]) {
      const response = await app.inject(String(url))
      expect([response.statusCode, response.body]).toEqual([200, `<!doctype html>${text}`])
      expect(response.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'referrer-policy': 'no-referrer',
      })
      const policy = String(response.headers['content-security-policy'])
      expect(policy).toContain("script-src 'self' 'sha256-abc';")
      expect(policy).not.toContain('unsafe')
    }
  })

  it('redirect a folder without its slash', async () => {
    for (const url of ['/docs', '/docs/guides']) {
      const response = await app.inject(url)
      expect([response.statusCode, response.headers['location']]).toEqual([308, `${url}/`])
    }
  })

  it('serve assets compressed, for ever', async () => {
    const url = '/docs/assets/app.abc.js'
    const plain = await app.inject(url)
    expect([plain.body, plain.headers['content-type']]).toEqual([
      'script()',
      'text/javascript; charset=utf-8',
    ])
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    const gzip = await app.inject({ url, headers: { 'accept-encoding': 'gzip' } })
    expect(gunzipSync(gzip.rawPayload).toString()).toBe('script()')
    const brotli = await app.inject({ url, headers: { 'accept-encoding': 'gzip, br' } })
    expect(brotli.headers['content-encoding']).toBe('br')
    expect(brotliDecompressSync(brotli.rawPayload).toString()).toBe('script()')
  })

  it('serve a picture as it is', async () => {
    const response = await app.inject({ url: '/docs/picture.png', headers: { 'accept-encoding': 'br' } })
    expect([response.body, response.headers['content-type']]).toEqual(['PNG', 'image/png'])
    expect(response.headers['content-encoding']).toBeUndefined()
  })

  it('revalidate a page by its ETag', async () => {
    const url = '/docs/guides/keep-a-copy.html'
    const { headers } = await app.inject(url)
    const second = await app.inject({ url, headers: { 'if-none-match': String(headers['etag']) } })
    expect([second.statusCode, second.body]).toEqual([304, ''])
  })

  it('show browsers a page for a wrong address, and other clients an error', async () => {
    const url = '/docs/guides/nope.html'
    const page = await app.inject({ url, headers: { accept: 'text/html' } })
    expect([page.statusCode, page.body]).toEqual([404, '<!doctype html>not found'])
    expect((await app.inject(url)).body).toBe('problem')
  })

  it('serve no file that the manifest does not name', async () => {
    for (const name of [
      'secret.js',
      'manifest.json',
      '../secret.js',
      '..%2fsecret.js',
      'index.html.gz',
      'assets',
    ]) {
      const response = await app.inject(`/docs/${name}`)
      expect([response.statusCode, response.body], name).toEqual([
        404,
        expect.not.stringContaining('hidden text'),
      ])
    }
  })

  it('reject parameters', async () => {
    expect((await app.inject('/docs/?page=2')).body).toBe('problem')
  })

  it('say how to build the site if it is not built', async () => {
    const response = await serve(['/nowhere/']).inject('/docs/')
    expect(response.statusCode).toBe(503)
    expect(response.body).toContain('npm run build -w site')
  })
})
