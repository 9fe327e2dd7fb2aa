import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { expect, inject } from 'vitest'
import type { Keys } from './place.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface Ask {
  readonly method?: string
  /** Without the service domain, or whole where it has a dot or a colon. */
  readonly host?: string
  /** A key itself, or null for no Authorization header. */
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly baseUrl?: string
}

// No connection is kept: the service may close one after an error, and a test must not meet that of another.
const agent = new Agent({ keepAlive: false })

/** One request, the path byte for byte as given. As acme with its key to everything, where nothing else is said. */
export function send(path: string, ask: Ask = {}): Promise<Answer> {
  const place = inject('place')
  const { hostname, port } = new URL(ask.baseUrl ?? place.baseUrl)
  const host = ask.host ?? 'acme'
  const key = ask.key === undefined ? place.keys.acme : ask.key
  const headers: Record<string, string | number> = {
    host: /[.:]/.test(host) || host === 'localhost' ? host : `${host}.${place.domain}`,
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(ask.body === undefined ? {} : { 'content-length': Buffer.byteLength(ask.body) }),
    ...ask.headers,
  }
  // Node refuses text beyond Latin-1 in a path; so the UTF-8 bytes go one character each.
  const raw = Buffer.from(path, 'utf8').toString('latin1')
  return new Promise((resolve, reject) => {
    const outgoing = request({ agent, hostname, port, method: ask.method ?? 'GET', path: raw, headers })
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
    outgoing.end(ask.body)
  })
}

export const keyOf = (name: keyof Keys): string => inject('place').keys[name]

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

export function listIn(answer: Answer): List {
  expect(answer.status, answer.text).toBe(200)
  expect(answer.headers['content-type']).toMatch(/^application\/json\b/)
  const body: List = JSON.parse(answer.text)
  return body
}

export function recordIn(answer: Answer): Row {
  expect(answer.status, answer.text).toBe(200)
  expect(answer.headers['content-type']).toMatch(/^application\/json\b/)
  const body: { data: Row } = JSON.parse(answer.text)
  return body.data
}

export function problemIn(answer: Answer, status: number): Problem {
  expect(answer.status, answer.text).toBe(status)
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json\b/)
  const body: Problem = JSON.parse(answer.text)
  return body
}

/** The one fault of a 400. */
export function faultIn(answer: Answer): Fault {
  const { errors } = problemIn(answer, 400)
  expect(errors, answer.text).toHaveLength(1)
  const fault = errors?.[0]
  if (fault === undefined) throw new Error('no fault')
  return fault
}

export async function list(path: string, ask?: Ask): Promise<List> {
  return listIn(await send(path, ask))
}

export const encoded = (filter: string): string => encodeURIComponent(filter)

/** The ids that a filter finds, all on one page. */
export async function idsOf(filter: string, path = products): Promise<readonly unknown[]> {
  const found = await list(`${path}?fields=id&limit=1000&filter=${encoded(filter)}`)
  expect(found.meta.total).toBe(found.data.length)
  return found.data.map((row) => row['id'])
}

/** The fault that a filter of products is refused with. */
export async function filterFault(filter: string, path = products): Promise<Fault> {
  return faultIn(await send(`${path}?filter=${encoded(filter)}`))
}

export function create(body: string, ask: Ask = {}): Promise<Answer> {
  return send(partners, {
    method: 'POST',
    host: 'initech',
    key: keyOf('initech'),
    body,
    ...ask,
    headers: { 'content-type': 'application/json', ...ask.headers },
  })
}

export function createdId(answer: Answer): number {
  expect(answer.status, answer.text).toBe(201)
  const body: { data: { id: number } } = JSON.parse(answer.text)
  return body.data.id
}
