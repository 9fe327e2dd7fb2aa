import { type Setting, secretSettings } from '../../config/config.ts'

/** The value of a setting without passwords, tokens or anything else that could be one. Null if it has none. */
export function maskedValue({ name, value }: Setting): string | number | boolean | null {
  if (value === undefined) return null
  if (typeof value !== 'string') return value
  if (name.endsWith('_HEADERS')) return maskedHeaders(value)
  if (name === 'DATABASE_REPLICA_URLS') return maskedUrls(value)
  if (/^[a-z]+:\/\//.test(value)) return maskedUrl(value)
  return secretSettings.some((secret) => secret === name) ? mask : value
}

/** If one of several does not begin as a URL, a space may be part of a password: then all are masked. */
export function maskedUrls(urls: string): string {
  const parts = urls.split(' ').filter((part) => part !== '')
  return parts.every((part) => /^postgres(?:ql)?:\/\//.test(part)) ? parts.map(maskedUrl).join(' ') : mask
}

export const mask = '***'

/**
 * Scheme, user, password, hosts, path, parameters. A URL that does not match, for example because of an @ in its password
 * that is not percent-encoded, is masked completely.
 */
const urlPattern = /^([a-z]+:\/\/)(?:([^:@/?#]*)(?::([^:@/?#]*))?@)?([^@/?#]*)(\/[^@?#]*)?(?:\?([^@?#]*))?$/

/** Parameters that are shown. The value of any other may be a password, such as `password` or `sslpassword`. */
const shownParameters = new Set([
  'host',
  'port',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'target_session_attrs',
  'application_name',
  'connect_timeout',
  'db',
  'family',
])

export function maskedUrl(url: string): string {
  const match = urlPattern.exec(url)
  if (match === null) return mask
  const [, scheme = '', user, password, hosts = '', path = '', query] = match
  return `${scheme}${maskedUser(scheme, user, password)}${hosts}${path}${maskedQuery(query)}`
}

/** Only the user name of a database is shown: in other URLs a token may be in its place. */
function maskedUser(scheme: string, user: string | undefined, password: string | undefined): string {
  if (user === undefined) return ''
  if (!scheme.startsWith('postgres')) return `${mask}@`
  return password === undefined ? `${user}@` : `${user}:${mask}@`
}

function maskedQuery(query: string | undefined): string {
  if (query === undefined) return ''
  const parameters = query.split('&').map((parameter) => {
    const [name = '', ...rest] = parameter.split('=')
    return rest.length === 0 || shownParameters.has(name) ? parameter : `${name}=${mask}`
  })
  return `?${parameters.join('&')}`
}

/** `authorization=Bearer abc,x-team=7` becomes `authorization=***,x-team=***`. */
function maskedHeaders(headers: string): string {
  return headers
    .split(',')
    .map((header) => (header.includes('=') ? `${header.slice(0, header.indexOf('=')).trim()}=${mask}` : mask))
    .join(',')
}
