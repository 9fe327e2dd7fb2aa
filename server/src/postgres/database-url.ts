/**
 * A `DATABASE_URL` that names several servers, as libpq takes it: `postgres://user@one:5432,two:5433/db` or
 * `?host=one,two&port=5432,5433`. `pg` takes one server, so there is one URL for each, in the order given.
 */
export function serverUrls(url: string): readonly [string, ...string[]] {
  const [, scheme = '', user = '', authority = '', path = '', query = ''] = shape.exec(url) ?? []
  if (scheme === '') throw invalidUrl('it does not start with postgres://')
  const parameters = new URLSearchParams(query)
  refuseOtherTargets(parameters)
  const servers = authority === '' ? fromParameters(parameters) : fromAuthority(authority)
  const rest = parameters.toString()
  const urls = servers.map(({ host, port, isSocket }) => {
    const name = isSocket ? '' : `${host}${port === '' ? '' : `:${port}`}`
    const socket = isSocket ? [`host=${encodeURIComponent(host)}`, port === '' ? '' : `port=${port}`] : []
    const search = [rest, ...socket].filter((part) => part !== '').join('&')
    return `${scheme}${user}${name}${path}${search === '' ? '' : `?${search}`}`
  })
  for (const one of urls) check(one)
  const [first, ...more] = urls
  if (first === undefined) throw invalidUrl('it names no server')
  return [first, ...more]
}

interface Server {
  readonly host: string
  readonly port: string
  readonly isSocket: boolean
}

/** Scheme, user and password, servers, database, parameters. The last @ ends the password, as for `pg`. */
const shape = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^@/?#]*)(\/[^?#]*)?(?:\?([^#]*))?$/

function fromAuthority(authority: string): Server[] {
  return authority.split(',').map((one) => {
    const [, host = '', port = ''] = /^(\[[0-9a-fA-F:.]+\]|[^:]+)(?::(\d+))?$/.exec(one) ?? []
    // Not repeated: what stands here may be a part of a password that was not encoded.
    if (host === '')
      throw invalidUrl('a host and its port cannot be read; percent-encode / ? # in the password')
    return { host, port, isSocket: false }
  })
}

/** As in libpq: one port for all hosts, or one for each. */
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

/** Only a primary can be served from, so nothing else may be asked for. */
function refuseOtherTargets(parameters: URLSearchParams): void {
  const target = parameters.get('target_session_attrs')
  if (target !== null && target !== 'read-write' && target !== 'primary') {
    throw invalidUrl(
      `target_session_attrs=${target} is not supported; connections always go to the primary (read-write or primary)`,
    )
  }
  parameters.delete('target_session_attrs')
}

function check(url: string): void {
  // `postgres://user@/database?host=/socket` has no host for Node, and one for pg.
  if (URL.canParse(url.replace('@/', '@localhost/'))) return
  throw invalidUrl('percent-encode characters such as @ : / # in the user name and password')
}

/** Says why, and never shows the URL itself: it holds a password. */
export class InvalidDatabaseUrl extends Error {
  readonly why: string

  constructor(why: string) {
    super(`The database URL is not valid: ${why}. Example: ${exampleUrl}`)
    this.why = why
  }
}

export const exampleUrl = 'postgres://user:password@db1:5432,db2:5432/quartermaster'

function invalidUrl(why: string): InvalidDatabaseUrl {
  return new InvalidDatabaseUrl(why)
}
