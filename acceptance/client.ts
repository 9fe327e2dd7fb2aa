import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { expect, inject } from 'vitest'
import type { Keys } from './environment.ts'

export interface HttpResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface RequestOptions {
  readonly method?: string
  /** The account's label, to which the service domain is added; a complete host if it contains a dot or a colon. */
  readonly host?: string
  /** An API key, or null for no Authorization header. */
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly baseUrl?: string
}

// No keep-alive: the service may close a connection after an error, and another test must not reuse it.
const agent = new Agent({ keepAlive: false })

/** Sends one request, with the path unchanged. By default to the account acme, with its key that has every scope. */
export function send(path: string, options: RequestOptions = {}): Promise<HttpResponse> {
  const target = inject('target')
  const { hostname, port } = new URL(options.baseUrl ?? target.baseUrl)
  const host = options.host ?? 'acme'
  const key = options.key === undefined ? target.keys.acme : options.key
  const headers: Record<string, string | number> = {
    host: /[.:]/.test(host) || host === 'localhost' ? host : `${host}.${target.domain}`,
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(options.body === undefined ? {} : { 'content-length': Buffer.byteLength(options.body) }),
    ...options.headers,
  }
  // Node rejects characters beyond Latin-1 in a path, so each UTF-8 byte is passed as one character.
  const raw = Buffer.from(path, 'utf8').toString('latin1')
  return new Promise((resolve, reject) => {
    const outgoing = request({ agent, hostname, port, method: options.method ?? 'GET', path: raw, headers })
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(options.body)
  })
}

export const keyOf = (name: keyof Keys): string => inject('target').keys[name]

export const products = '/api/v1/inventory/product'
export const partners = '/api/v1/resources/partner'
export const companies = '/api/v1/resources/company'

export type Row = Readonly<Record<string, string | number | boolean | null>>

export interface List {
  readonly data: readonly Row[]
  readonly meta: { readonly count: number; readonly total: number }
  readonly pagination: {
    readonly previousPage: number | null
    readonly currentPage: number
    readonly nextPage: number | null
    readonly totalPages: number
  }
}

export interface Fault {
  readonly parameter?: string
  readonly pointer?: string
  readonly code: string
  readonly message: string
  readonly offset?: number
  readonly length?: number
  readonly expected?: readonly string[]
  readonly suggestion?: string
}

export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly request_id: string
  readonly errors?: readonly Fault[]
}

export function listIn(response: HttpResponse): List {
  expect(response.status, response.text).toBe(200)
  expect(response.headers['content-type']).toMatch(/^application\/json\b/)
  const body: List = JSON.parse(response.text)
  return body
}

export function recordIn(response: HttpResponse): Row {
  expect(response.status, response.text).toBe(200)
  expect(response.headers['content-type']).toMatch(/^application\/json\b/)
  const body: { data: Row } = JSON.parse(response.text)
  return body.data
}

export function problemIn(response: HttpResponse, status: number): Problem {
  expect(response.status, response.text).toBe(status)
  expect(response.headers['content-type']).toMatch(/^application\/problem\+json\b/)
  const body: Problem = JSON.parse(response.text)
  return body
}

/** The one fault of a 400. */
export function faultIn(response: HttpResponse): Fault {
  const { errors } = problemIn(response, 400)
  expect(errors, response.text).toHaveLength(1)
  const fault = errors?.[0]
  if (fault === undefined) throw new Error('no fault')
  return fault
}

export async function list(path: string, options?: RequestOptions): Promise<List> {
  return listIn(await send(path, options))
}

export const encoded = (filter: string): string => encodeURIComponent(filter)

/** The ids of all records that match a filter, read as one page. */
export async function idsOf(filter: string, path = products): Promise<readonly unknown[]> {
  const found = await list(`${path}?fields=id&limit=1000&filter=${encoded(filter)}`)
  expect(found.meta.total).toBe(found.data.length)
  return found.data.map((row) => row['id'])
}

/** The only fault that the service reports for a filter. */
export async function filterFault(filter: string, path = products): Promise<Fault> {
  return faultIn(await send(`${path}?filter=${encoded(filter)}`))
}

export function create(body: string, options: RequestOptions = {}): Promise<HttpResponse> {
  return send(partners, {
    method: 'POST',
    host: 'initech',
    key: keyOf('initech'),
    body,
    ...options,
    headers: { 'content-type': 'application/json', ...options.headers },
  })
}

export function createdId(response: HttpResponse): number {
  expect(response.status, response.text).toBe(201)
  const body: { data: { id: number } } = JSON.parse(response.text)
  return body.data.id
}
