import type { HttpRequest } from '../client.ts'
import type { Random } from '../random.ts'
import { type MarkerAccount, otherCount, productCount } from './fixture.ts'

/** A request that may try to read another account's data, and what its response may contain. */
export interface Attempt {
  readonly request: Omit<HttpRequest, 'port'>
  /** The account whose data the response may contain. Undefined: no account. */
  readonly entitled: MarkerAccount | undefined
  /** `target`: the response to `target`. `either`: that or an error, because the host is ambiguous. `rejected`: 401. */
  readonly expected: 'target' | 'either' | 'rejected'
  readonly target: Target
}

export interface Target {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly type?: string
  readonly status: number
  /** Whether the response contains the account's marker. Undefined if that depends on earlier requests. */
  readonly hasMarker: boolean | undefined
}

interface Credential {
  readonly headers: readonly string[]
  readonly valid: boolean
}

interface Hosts {
  readonly headers: readonly string[]
  /** For a request line with an absolute URL. */
  readonly authority?: string
  readonly names: 'own' | 'ambiguous' | 'another'
}

export function randomAttempt(random: Random, accounts: readonly MarkerAccount[]): Attempt {
  const own = random.pick(accounts)
  const other = random.pick(accounts.filter((account) => account !== own))
  const credential = randomCredential(random, own)
  const hosts = randomHosts(random, own, other)
  const target = randomTarget(random, own, other)
  const { method, path, body, type } = target
  const headers = [
    ...hosts.headers,
    ...credential.headers,
    ...forged(random, own, other),
    ...(type === undefined ? [] : ['Content-Type', type]),
  ]
  const entitled = credential.valid && hosts.names !== 'another' ? own : undefined
  const expected = entitled === undefined ? 'rejected' : hosts.names === 'own' ? 'target' : 'either'
  const url = hosts.authority === undefined ? path : `http://${hosts.authority}${path}`
  const request = { method, path: url, headers, ...(body !== undefined && { body }) }
  return { request, entitled, expected, target }
}

function randomCredential(random: Random, own: MarkerAccount): Credential {
  if (random.chance(0.7)) return { headers: ['Authorization', `Bearer ${own.key}`], valid: true }
  const at = random.integer(3, own.key.length - 1)
  const altered = `${own.key.slice(0, at)}${own.key[at] === 'x' ? 'y' : 'x'}${own.key.slice(at + 1)}`
  const headers = random.pick<readonly string[]>([
    [],
    ['Authorization', ''],
    ['Authorization', 'Bearer'],
    ['Authorization', own.key],
    ['Authorization', `Basic ${Buffer.from(`${own.name}:${own.key}`).toString('base64')}`],
    ['Authorization', `Bearer ${altered}`],
    ['Authorization', `Bearer ${own.revokedKey}`],
    ['Authorization', `Bearer ${own.key}x`],
    ['Authorization', `Bearer ${own.key.slice(0, -1)}`],
    ['Authorization', `Bearer ${own.key.toUpperCase()}`],
    ['Authorization', `Bearer ' or true --`],
    ['X-Api-Key', own.key],
    ['Cookie', `key=${own.key}`],
    ['Proxy-Authorization', `Bearer ${own.key}`],
  ])
  return { headers, valid: false }
}

/** `own` is the account whose key, valid or altered, is sent. */
function randomHosts(random: Random, own: MarkerAccount, other: MarkerAccount): Hosts {
  const host = (name: string) => `${name}.localhost${random.chance(0.3) ? ':8080' : ''}`
  const style = random.next()
  if (style < 0.45) return { headers: ['Host', host(own.name)], names: 'own' }
  if (style < 0.7) return { headers: ['Host', host(other.name)], names: 'another' }
  if (style < 0.8) {
    const names = [
      [
        'localhost',
        '127.0.0.1',
        '[::1]',
        'missing.localhost',
        'localhost.',
        '.localhost',
        '*.localhost',
        '%',
      ],
      [`${own.name}.localhost.example.com`, `${own.name}.example.com`, own.name, `${own.name}localhost`, ''],
      [`${other.name}.${own.name}`, `${own.name}-${other.name}.localhost`, `${own.name}%00.localhost`],
    ].flat()
    return { headers: ['Host', random.pick(names)], names: 'another' }
  }
  if (style < 0.88) {
    // A server may accept or reject these as names of `own`. It must not take them for `other`.
    const names = [
      [`${own.name.toUpperCase()}.LOCALHOST`, `${own.name}.localhost.`, `x.${own.name}.localhost`],
      [`${own.name}.localhost,${other.name}.localhost`, `${other.name}.localhost@${own.name}.localhost`],
      [
        `${other.name}.${own.name}.localhost`,
        `${own.name}.${other.name}.localhost`,
        `${own.name}.localhost:x`,
      ],
    ].flat()
    return { headers: ['Host', random.pick(names)], names: 'ambiguous' }
  }
  const [first, second] = random.chance(0.5) ? [own, other] : [other, own]
  if (style < 0.94)
    return { headers: ['Host', host(first.name), 'Host', host(second.name)], names: 'ambiguous' }
  return { headers: ['Host', host(first.name)], authority: host(second.name), names: 'ambiguous' }
}

/** Headers in which proxies pass on the original request; no proxy is trusted here. */
function forged(random: Random, own: MarkerAccount, other: MarkerAccount): string[] {
  if (random.chance(0.4)) return []
  const host = `${random.pick([other, own]).name}.localhost`
  const headers = [
    ['X-Forwarded-Host', host],
    ['Forwarded', `host=${host};for=127.0.0.1;proto=https`],
    ['X-Forwarded-For', '127.0.0.1'],
    ['X-Original-Host', host],
    ['X-Host', host],
    ['X-Forwarded-Server', host],
    ['X-HTTP-Host-Override', host],
    ['X-Real-IP', '127.0.0.1'],
    ['X-Original-URL', `/api/v1/resources/partner/${other.firstId}`],
    ['X-Rewrite-URL', `http://${host}/api/v1/resources/partner`],
    ['X-HTTP-Method-Override', 'DELETE'],
    ['X-Account', other.name],
    ['Origin', `http://${host}`],
    ['Referer', `http://${host}/`],
  ]
  return Array.from({ length: random.integer(1, 3) }, () => random.pick(headers)).flat()
}

function randomTarget(random: Random, own: MarkerAccount, other: MarkerAccount): Target {
  const group = random.pick(['inventory/product', 'resources/partner', 'resources/company'])
  const path = `/api/v1/${group}`
  const mostId = group === 'inventory/product' ? productCount : otherCount
  const ownId = own.firstId + random.integer(0, mostId - 1)
  const otherId = other.firstId + random.integer(0, mostId - 1)
  const manage = (list: string, hasMarker: boolean | undefined): Target => ({
    method: 'GET',
    path: `/manage/v1/${list}?limit=1000`,
    status: 200,
    hasMarker,
  })
  const get = (rest: string, status: number, hasMarker: boolean): Target => ({
    method: 'GET',
    path: `${path}${rest}`,
    status,
    hasMarker,
  })
  const form = (body: string, hasMarker: boolean): Target => ({
    method: 'QUERY',
    path,
    body,
    type: 'application/x-www-form-urlencoded',
    status: 200,
    hasMarker,
  })
  const name = `${own.marker} created ${random.integer(1, 1_000_000)}`
  const post: Target = {
    method: 'POST',
    path: '/api/v1/resources/partner',
    body: JSON.stringify({ name }),
    type: 'application/json',
    status: 201,
    hasMarker: false,
  }
  return random.pick<() => Target>([
    () => get('', 200, true),
    () => get('?limit=1000', 200, true),
    () => get(`?limit=5&page=${random.integer(1, 2)}`, 200, true),
    () => get(`/${ownId}`, 200, true),
    () => get(`/${otherId}`, 404, false),
    () => get(`/${otherId}?fields=name`, 404, false),
    () => get(`?filter=id=${otherId}`, 200, false),
    () => get(`?filter=name*${other.stem}`, 200, false),
    () => get(`?filter=name*${own.stem}&limit=1000`, 200, true),
    () =>
      get(
        `?filter=id=${otherId}|name*${other.stem}|id>=${other.firstId}&id<${other.firstId + 999}`,
        200,
        false,
      ),
    () => get(`?filter=id>0&limit=1000`, 200, true),
    () => get(`?filter=account_id>0`, 400, false),
    () => get(`?account=${other.name}`, 400, false),
    // This puts the marker into the account's request log. It must not appear in another account's.
    () => get(`?filter=name*${own.marker}`, 200, true),
    () => manage('keys', true),
    () => manage('audit', true),
    () => manage('requests', undefined),
    () => manage('usage', undefined),
    () => form(`filter=name*${other.stem}`, false),
    () => form('limit=1000', true),
    () => (random.chance(0.2) ? post : get(`/${ownId}?fields=id,name`, 200, true)),
  ])()
}
