import { limits } from '../../limits/limits.ts'

/**
 * Splits a `DATABASE_URL` that names several servers, in libpq's syntax (`postgres://user@one:5432,two:5433/db` or
 * `?host=one,two&port=5432,5433`), into one URL for each server, in the same order. `pg` accepts one server only.
 */
export function serverUrls(
  url: string,
  targets: readonly string[] = primaryTargets,
): readonly [string, ...string[]] {
  const [, scheme = '', user = '', authority = '', path = '', query = ''] = urlPattern.exec(url) ?? []
  if (scheme === '') throw invalidUrl('it does not start with postgres://')
  const parameters = new URLSearchParams(query)
  rejectOtherTargets(parameters, targets)
  rejectOtherTimeouts(parameters)
  const servers = authority === '' ? fromParameters(parameters) : fromAuthority(authority)
  const rest = parameters.toString()
  const urls = servers.map(({ host, port, isSocket }) => {
    const name = isSocket ? '' : `${host}${port === '' ? '' : `:${port}`}`
    const socket = isSocket ? [`host=${encodeURIComponent(host)}`, port === '' ? '' : `port=${port}`] : []
    const search = [rest, ...socket].filter((part) => part !== '').join('&')
    return `${scheme}${user}${name}${path}${search === '' ? '' : `?${search}`}`
  })
  for (const serverUrl of urls) validate(serverUrl)
  const [first, ...others] = urls
  if (first === undefined) throw invalidUrl('it does not name a server')
  return [first, ...others]
}

interface Server {
  readonly host: string
  readonly port: string
  readonly isSocket: boolean
}

/** Scheme, user and password, servers, database, parameters. The last @ ends the password, as in `pg`. */
const urlPattern = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^@/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/

function fromAuthority(authority: string): Server[] {
  return authority.split(',').map((server) => {
    const [, host = '', port = ''] = /^(\[[0-9a-fA-F:.]+\]|[^:]+)(?::(\d+))?$/.exec(server) ?? []
    // The message does not quote the text: it may be part of a password that was not percent-encoded.
    if (host === '')
      throw invalidUrl('a host and its port cannot be read; percent-encode / ? # in the password')
    return { host, port, isSocket: false }
  })
}

/** As in libpq: one port for all hosts, or one port for each host. */
function fromParameters(parameters: URLSearchParams): Server[] {
  const hosts = (parameters.get('host') ?? 'localhost').split(',')
  const ports = (parameters.get('port') ?? '').split(',')
  if (ports.length > 1 && ports.length !== hosts.length)
    throw invalidUrl(`it names ${hosts.length} hosts and ${ports.length} ports`)
  parameters.delete('host')
  parameters.delete('port')
  return hosts.map((host, i) => ({
    host,
    port: ports.length === 1 ? (ports[0] ?? '') : (ports[i] ?? ''),
    isSocket: host.startsWith('/'),
  }))
}

/** The URLs of `DATABASE_REPLICA_URLS`, one for each server. A server that is the primary at the time is not used. */
export function replicaUrls(urls: string): readonly string[] {
  const parts = urls.split(' ').filter((part) => part !== '')
  if (parts.some((part) => part.split('://').length > 2))
    throw invalidUrl('two URLs must be separated by a space')
  const servers = parts.flatMap((part) => serverUrls(part, replicaTargets))
  if (servers.length > limits.replicasMax)
    throw invalidUrl(`it names ${servers.length} servers, more than ${limits.replicasMax}`)
  return servers
}

const primaryTargets = ['read-write', 'primary']
const replicaTargets = ['standby', 'prefer-standby', 'read-only', 'any']

function rejectOtherTargets(parameters: URLSearchParams, targets: readonly string[]): void {
  const target = parameters.get('target_session_attrs')
  if (target !== null && !targets.includes(target)) {
    const which = targets === primaryTargets ? 'the primary' : 'a standby'
    throw invalidUrl(
      `target_session_attrs=${target} is not supported; connections always go to ${which} (${targets.join(' or ')})`,
    )
  }
  parameters.delete('target_session_attrs')
}

function rejectOtherTimeouts(parameters: URLSearchParams): void {
  const seconds = parameters.get('connect_timeout')
  const isValid =
    seconds === null || (/^[1-9]\d{0,3}$/.test(seconds) && Number(seconds) <= limits.connectSecondsMax)
  if (!isValid)
    throw invalidUrl(`connect_timeout must be a number of seconds from 1 to ${limits.connectSecondsMax}`)
}

/** The timeout to open a connection to this server: `connect_timeout`, in seconds as in libpq, or else the default. */
export function connectMs(serverUrl: string, defaultMs: number): number {
  const [, , , , , query = ''] = urlPattern.exec(serverUrl) ?? []
  const seconds = new URLSearchParams(query).get('connect_timeout')
  return seconds === null ? defaultMs : Number(seconds) * 1000
}

function validate(url: string): void {
  // pg accepts `postgres://user@/database?host=/socket`; Node's URL requires a host after the @.
  if (URL.canParse(url.replace('@/', '@localhost/'))) return
  throw invalidUrl('percent-encode characters such as @ : / # in the user name and password')
}

/** The message never contains the URL: it has a password in it. */
export class InvalidDatabaseUrl extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(`The database URL is not valid: ${reason}. Example: ${exampleUrl}`)
    this.reason = reason
  }
}

export const exampleUrl = 'postgres://user:password@db1:5432,db2:5432/quartermaster'

function invalidUrl(reason: string): InvalidDatabaseUrl {
  return new InvalidDatabaseUrl(reason)
}
