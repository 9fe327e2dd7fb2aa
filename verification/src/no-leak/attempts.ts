import type { Ask } from '../client.ts'
import type { Random } from '../random.ts'
import { type MarkedAccount, otherCount, productCount } from './fixture.ts'

/** A request that may be meant to get at another account's data, and what may be in its answer. */
export interface Attempt {
  readonly ask: Omit<Ask, 'port'>
  /** The one account whose data the answer may show; without it, none. */
  readonly entitled: MarkedAccount | undefined
  /** `all`: exactly this was asked for and is due. `some`: the host is spelt oddly, or twice. `none`: 401. */
  readonly due: 'all' | 'some' | 'none'
  /** Where all is due: the records that are, and whether they bear the marker. */
  readonly target: Target
}

export interface Target {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly type?: string
  readonly status: number
  /** Undefined where that depends on what was asked before. */
  readonly marked: boolean | undefined
}

interface Credential {
  readonly headers: readonly string[]
  readonly valid: boolean
}

interface Hosts {
  readonly headers: readonly string[]
  /** For an absolute request line. */
  readonly authority?: string
  readonly names: 'own' | 'perhaps' | 'another'
}

export function randomAttempt(random: Random, accounts: readonly MarkedAccount[]): Attempt {
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
  const due = entitled === undefined ? 'none' : hosts.names === 'own' ? 'all' : 'some'
  const line = hosts.authority === undefined ? path : `http://${hosts.authority}${path}`
  return { ask: { method, path: line, headers, ...(body !== undefined && { body }) }, entitled, due, target }
}

function randomCredential(random: Random, own: MarkedAccount): Credential {
  if (random.chance(0.7)) return { headers: ['Authorization', `Bearer ${own.key}`], valid: true }
  const at = random.integer(3, own.key.length - 1)
  const slipped = `${own.key.slice(0, at)}${own.key[at] === 'x' ? 'y' : 'x'}${own.key.slice(at + 1)}`
  const headers = random.pick<readonly string[]>([
    [],
    ['Authorization', ''],
    ['Authorization', 'Bearer'],
    ['Authorization', own.key],
    ['Authorization', `Basic ${Buffer.from(`${own.name}:${own.key}`).toString('base64')}`],
    ['Authorization', `Bearer ${slipped}`],
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

/** `own` is the account of the key, or would be if the key were right. */
function randomHosts(random: Random, own: MarkedAccount, other: MarkedAccount): Hosts {
  const host = (name: string) => `${name}.localhost${random.chance(0.3) ? ':8080' : ''}`
  const style = random.next()
  if (style < 0.45) return { headers: ['Host', host(own.name)], names: 'own' }
  if (style < 0.7) return { headers: ['Host', host(other.name)], names: 'another' }
  if (style < 0.8) {
    const names = [
      ['localhost', '127.0.0.1', '[::1]', 'nobody.localhost', 'localhost.', '.localhost', '*.localhost', '%'],
      [`${own.name}.localhost.example.com`, `${own.name}.example.com`, own.name, `${own.name}localhost`, ''],
      [`${other.name}.${own.name}`, `${own.name}-${other.name}.localhost`, `${own.name}%00.localhost`],
    ].flat()
    return { headers: ['Host', random.pick(names)], names: 'another' }
  }
  if (style < 0.88) {
    // Whether these name the account may be seen either way; another account's they are not.
    const names = [
      [`${own.name.toUpperCase()}.LOCALHOST`, `${own.name}.localhost.`, `x.${own.name}.localhost`],
      [`${own.name}.localhost,${other.name}.localhost`, `${other.name}.localhost@${own.name}.localhost`],
      [
        `${other.name}.${own.name}.localhost`,
        `${own.name}.${other.name}.localhost`,
        `${own.name}.localhost:x`,
      ],
    ].flat()
    return { headers: ['Host', random.pick(names)], names: 'perhaps' }
  }
  const [first, second] = random.chance(0.5) ? [own, other] : [other, own]
  if (style < 0.94)
    return { headers: ['Host', host(first.name), 'Host', host(second.name)], names: 'perhaps' }
  return { headers: ['Host', host(first.name)], authority: host(second.name), names: 'perhaps' }
}

/** Headers by which proxies hand on what they were asked; no proxy is trusted here. */
function forged(random: Random, own: MarkedAccount, other: MarkedAccount): string[] {
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

function randomTarget(random: Random, own: MarkedAccount, other: MarkedAccount): Target {
  const group = random.pick(['inventory/product', 'resources/partner', 'resources/company'])
  const path = `/api/v1/${group}`
  const mostId = group === 'inventory/product' ? productCount : otherCount
  const ownId = own.firstId + random.integer(0, mostId - 1)
  const otherId = other.firstId + random.integer(0, mostId - 1)
  const manage = (list: string, marked: boolean | undefined): Target => ({
    method: 'GET',
    path: `/manage/v1/${list}?limit=1000`,
    status: 200,
    marked,
  })
  const get = (rest: string, status: number, marked: boolean): Target => ({
    method: 'GET',
    path: `${path}${rest}`,
    status,
    marked,
  })
  const form = (body: string, marked: boolean): Target => ({
    method: 'QUERY',
    path,
    body,
    type: 'application/x-www-form-urlencoded',
    status: 200,
    marked,
  })
  const name = `${own.marker} made ${random.integer(1, 1_000_000)}`
  const post: Target = {
    method: 'POST',
    path: '/api/v1/resources/partner',
    body: JSON.stringify({ name }),
    type: 'application/json',
    status: 201,
    marked: false,
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
    // The marker goes into the account's own request log, and must not come out of another's.
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
