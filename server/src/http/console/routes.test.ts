import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { afterAll, describe, expect, it } from 'vitest'
import { readConsole } from './files.ts'
import { consoleRoutes } from './routes.ts'

const folder = `${mkdtempSync(join(tmpdir(), 'quartermaster-console-'))}/`
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): void {
  writeFileSync(folder + name, text)
  writeFileSync(`${folder}${name}.gz`, gzipSync(text))
  writeFileSync(`${folder}${name}.br`, brotliCompressSync(text))
}

mkdirSync(`${folder}assets`)
write('index.html', '<!doctype html>page')
write('assets/main-abc.js', 'script()')
writeFileSync(`${folder}secret.js`, 'secret')

function serve(candidates: readonly string[]) {
  const app = Fastify()
  for (const [url, handler] of Object.entries(consoleRoutes(() => readConsole(candidates))))
    app.get(url, handler)
  return app
}

describe('the routes of the console', () => {
  const app = serve(['/nowhere/', folder])

  it('serve the page at every path of the application', async () => {
    for (const url of ['/console', '/console/', '/console/products?filter=id>5', '/console/keys']) {
      const response = await app.inject(url)
      expect([response.statusCode, response.body]).toEqual([200, '<!doctype html>page'])
      expect(response.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'referrer-policy': 'no-referrer',
      })
      expect(response.headers['content-security-policy']).not.toContain('unsafe')
    }
  })

  it('serve assets compressed, for ever', async () => {
    const url = '/console/assets/main-abc.js'
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

  it('revalidate the page by its ETag', async () => {
    const { headers } = await app.inject('/console')
    const second = await app.inject({
      url: '/console',
      headers: { 'if-none-match': String(headers['etag']) },
    })
    expect([second.statusCode, second.body]).toEqual([304, ''])
  })

  it('serve no other file', async () => {
    for (const name of [
      'nope.js',
      '../secret.js',
      '..%2fsecret.js',
      '..%2findex.html',
      'main-abc.js.gz',
      '',
    ]) {
      const response = await app.inject(`/console/assets/${name}`)
      expect(response.body, name).not.toContain('secret')
      expect(response.body, name).not.toContain('script()')
    }
  })

  it('say how to build the console if it is not built', async () => {
    const response = await serve(['/nowhere/']).inject('/console')
    expect(response.statusCode).toBe(503)
    expect(response.body).toContain('npm run build -w console')
  })
})
