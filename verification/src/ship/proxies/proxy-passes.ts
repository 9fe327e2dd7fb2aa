import { writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import type { Check } from '../../check.ts'
import { Client, type HttpResponse, headersFor } from '../../client.ts'
import { Service } from '../../service.ts'
import { HttpsClient, type HttpsRequest } from './https-client.ts'
import { type ReverseProxy, type StartProxy, startHaproxy, startNginx } from './proxy.ts'
import { batchStreams, changeStreams } from './streams.ts'

const products = '/api/v1/inventory/product'
/** A filter of `count` conditions with values of 500 characters; every product matches it. */
const longFilter = (count: number) =>
  ['name*bolt', ...Array.from({ length: count }, (_, n) => `name=${'a'.repeat(500)}${n}`)].join('|')

const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** Requests that proxies reject or change if they are not configured for them. */
const requests: readonly (HttpsRequest & { readonly label: string; readonly status: number })[] = [
  { label: 'encoded filter', path: `${products}?filter=name%2Abolt%26id%3C9`, status: 200 },
  { label: 'raw | < > *', path: `${products}?filter=id<3|id>8&fields=id,name`, status: 200 },
  { label: 'raw [ ]', path: `${products}?filter=id=[1,2,3]&fields=id`, status: 400 },
  { label: 'raw { } " ^ \\ `', path: `${products}?filter=name="{a}^\\\``, status: 400 },
  { label: 'encoded %2F and %00', path: `${products}?filter=name%3Da%2Fb%00`, status: 400 },
  { label: 'repeated slashes', path: `//api/v1//inventory/product`, status: 404 },
  { label: 'dot segments', path: `/x/../api/v1/inventory/product`, status: 404 },
  {
    label: 'QUERY',
    method: 'QUERY',
    path: products,
    headers: form,
    body: 'filter=id%3C4&limit=2',
    status: 200,
  },
  {
    label: 'QUERY of 45 KB',
    method: 'QUERY',
    path: products,
    headers: form,
    body: `filter=${longFilter(90)}&limit=2`,
    status: 200,
  },
  {
    label: 'QUERY that is too long',
    method: 'QUERY',
    path: products,
    headers: form,
    body: `filter=${'a'.repeat(300_000)}`,
    status: 413,
  },
  {
    label: 'filter of 7 KB',
    path: `${products}?fields=id&filter=${longFilter(14)}&limit=2`,
    status: 200,
  },
  {
    label: 'Link of 4 KB',
    path: `${products}?fields=id&limit=2&page=3&filter=name*bolt|name=${'a'.repeat(850)}`,
    status: 200,
  },
  { label: 'URL of 16 KB', path: `${products}?filter=name=${'a'.repeat(16_000)}`, status: 400 },
  { label: 'URL of 20 KB', path: `${products}?filter=name=${'a'.repeat(20_000)}`, status: 414 },
  { label: 'HEAD', method: 'HEAD', path: products, status: 200 },
  { label: 'unsupported method', method: 'PROPFIND', path: products, status: 405 },
  { label: 'unknown path', path: '/metrics', status: 404 },
  { label: 'one record', path: `${products}/7`, status: 200 },
  { label: 'reference', path: '/reference', status: 200 },
]

function passes(name: 'nginx' | 'haproxy', start: StartProxy): Check {
  return {
    name: `${name}_passes`,
    needs: [name, 'openssl'],
    bound: 'every request as without the proxy',
    async run(context) {
      const service = await Service.start()
      const proxies: ReverseProxy[] = []
      try {
        const rows = 20_000
        const key = await service.account('acme')
        await importProducts(service, rows)
        const settings = { QUARTERMASTER_TRUSTED_PROXIES: '127.0.0.1' }
        const servers = [await service.serve(settings), await service.serve(settings)]
        const proxy = await start(servers.map(({ port }) => port))
        proxies.push(proxy)
        const direct = servers[0]?.port ?? 0
        const findings = [
          ...(await compare(proxy, direct, key)),
          ...(await forwardedHeaders(proxy, key)),
          ...(await plainHttp(proxy)),
          ...(await exportStreams(proxy, key, rows)),
          ...(await batchStreams({ proxy, key }, products, (n) => productLine(n % rows), name === 'haproxy')),
          ...(await changeStreams({ proxy, key }, products, () => changeProduct(proxy, key))),
        ]
        const count = requests.length * 2 + 11
        context.log(findings.join('\n'))
        return { value: `${count - findings.length} of ${count}`, samples: count, ok: findings.length === 0 }
      } finally {
        for (const proxy of proxies) await proxy.stop()
        await service.stop()
      }
    },
  }
}

export const nginxPasses = passes('nginx', startNginx)
export const haproxyPasses = passes('haproxy', startHaproxy)

async function importProducts(service: Service, rows: number): Promise<void> {
  const file = join(service.folder, 'products.ndjson')
  writeFileSync(file, Array.from({ length: rows }, (_, n) => `${productLine(n)}\n`).join(''))
  await service.command(['import', 'product', '--account', 'acme', file])
}

const productLine = (n: number) => JSON.stringify({ id: n + 1, name: `bolt ${n + 1} ${'x'.repeat(480)}` })

async function changeProduct(proxy: ReverseProxy, key: string): Promise<HttpResponse> {
  const client = new HttpsClient(proxy, 'acme', key)
  try {
    return await client.send({
      method: 'PATCH',
      path: `${products}/1`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"name":"changed bolt"}',
    })
  } finally {
    client.close()
  }
}

/** Each request with HTTP/1.1 and HTTP/2, compared with the response of the service without a proxy. */
async function compare(proxy: ReverseProxy, port: number, key: string): Promise<string[]> {
  const client = new Client()
  const https = new HttpsClient(proxy, 'acme', key)
  const findings: string[] = []
  try {
    for (const { label, status, ...asked } of requests) {
      const headers = [...headersFor('acme', key), ...Object.entries(asked.headers ?? {}).flat()]
      const expected = await client.sendUntilAccepted({ ...asked, port, headers })
      if (expected.status !== status) findings.push(`${label}: the service responds with ${expected.status}`)
      for (const [version, send] of [
        ['HTTP/1.1', () => https.send(asked)],
        ['HTTP/2', () => https.sendHttp2(asked)],
      ] as const) {
        const found = await send().catch((error: Error) => error)
        const difference = differenceOf(expected, found)
        if (difference !== undefined) findings.push(`${proxy.name}, ${label}, ${version}: ${difference}`)
      }
    }
  } finally {
    client.close()
    https.close()
  }
  return findings
}

function differenceOf(expected: HttpResponse, found: HttpResponse | Error): string | undefined {
  if (found instanceof Error) return found.message
  if (found.status !== expected.status)
    return `status ${found.status}, not ${expected.status}: ${found.text.slice(0, 120)}`
  const withoutId = (text: string) => text.replaceAll(/"(?:request_id|instance)":\s*"[^"]+"/g, '')
  if (withoutId(found.text) !== withoutId(expected.text)) return `another body: ${found.text.slice(0, 120)}`
  const changed = ['content-type', 'etag', 'link', 'allow'].filter(
    (name) => found.headers[name] !== expected.headers[name],
  )
  return changed.length > 0 ? `other headers: ${changed.join(', ')}` : undefined
}

/** A client cannot choose its address or its account by headers that only a proxy may set. */
async function forwardedHeaders(proxy: ReverseProxy, key: string): Promise<string[]> {
  const client = new HttpsClient(proxy, 'acme', key)
  const findings: string[] = []
  try {
    // The service trusts 127.0.0.1, so it would believe a header that the proxy had only appended to.
    for (const from of ['127.0.0.2', '127.0.0.1']) {
      const created = await client.send({
        method: 'POST',
        path: '/manage/v1/keys',
        headers: {
          'content-type': 'application/json',
          'x-forwarded-for': '192.0.2.9',
          'x-forwarded-host': 'other.localhost',
        },
        body: JSON.stringify({ name: `from ${from}`, scopes: ['product:read'] }),
        from,
      })
      if (created.status !== 201) findings.push(`X-Forwarded-Host of the client: ${created.status}`)
      const audit = await client.send({ path: '/manage/v1/audit?limit=1' })
      if (!audit.text.includes(`"${from}"`)) findings.push(`address of the client: ${audit.text}`)
    }
    const { headers } = await client.send({ path: '/livez' })
    if (headers['strict-transport-security'] === undefined) findings.push('no Strict-Transport-Security')
  } finally {
    client.close()
  }
  return findings
}

async function plainHttp(proxy: ReverseProxy): Promise<string[]> {
  const statusOf = (path: string) =>
    new Promise<number>((resolve, reject) => {
      httpRequest({ host: '127.0.0.1', port: proxy.httpPort, path }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0))
      })
        .once('error', reject)
        .end()
    })
  const api = await statusOf(products)
  const reference = await statusOf('/reference')
  return [
    ...(api === 403 ? [] : [`http://: ${api}, not 403`]),
    ...(reference === 308 ? [] : [`http:///reference: ${reference}, not 308`]),
  ]
}

/** An export whose client stops reading is stored neither on disk nor in memory, and is complete in the end. */
async function exportStreams(proxy: ReverseProxy, key: string, rows: number): Promise<string[]> {
  const { httpsPort: port, certificate: ca } = proxy
  return new Promise((resolve, reject) => {
    const findings: string[] = []
    const headers = { host: 'acme.localhost', authorization: `Bearer ${key}`, accept: 'application/x-ndjson' }
    const outgoing = request(
      { host: '127.0.0.1', port, path: products, headers, ca, servername: 'acme.localhost' },
      (response) => {
        let lines = 0
        response.once('data', () => {
          response.pause()
          // A proxy that stores the response has a file after the first 64 KB.
          setTimeout(() => {
            const files = proxy.temporaryFiles()
            if (files.length > 0) findings.push(`the export is stored on disk: ${files.join(', ')}`)
            response.resume()
          }, 1_000)
        })
        response.on('data', (chunk: Buffer) => (lines += chunk.filter((byte) => byte === 10).length))
        response.once('error', reject)
        response.once('end', () => {
          // The last line is the end marker.
          if (lines !== rows + 1) findings.push(`the export has ${lines - 1} of ${rows} records`)
          resolve(findings)
        })
      },
    )
    outgoing.once('error', reject)
    outgoing.end()
  })
}
