import pg from 'pg'

/** What a database error means to an operator, and what to do about it. */
export interface DatabaseFault {
  readonly message: string
  readonly repair: string
}

/** Where a URL leads, without its password; it may name several servers, separated by commas. */
export function placeOf(url: string): {
  readonly host: string
  readonly user: string
  readonly database: string
} {
  const [, authority = '', path = ''] = /^\w+:\/\/([^/?#]*)(?:\/([^?#]*))?/.exec(url) ?? []
  // A password may have an @ in it that nobody encoded: the last one ends it, as for `pg`.
  const userEnd = authority.lastIndexOf('@')
  const parameters = new URLSearchParams(url.split('?')[1])
  const hosts = (authority.slice(userEnd + 1) || parameters.get('host') || 'localhost').split(',')
  const user = decodeURIComponent(authority.slice(0, Math.max(userEnd, 0)).split(':')[0] ?? '')
  return {
    host: hosts.map((host) => (/:\d+$|^\//.test(host) ? host : `${host}:5432`)).join(', '),
    user,
    database: decodeURIComponent(path) || user,
  }
}

/** Undefined for an error that is not about the database or is not known: it then speaks for itself. */
export function databaseFault(error: unknown, url: string, variable: string): DatabaseFault | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') {
    return (
      networkFault(error.code, url, variable) ??
      refusal(error.code, error.message, url, variable) ??
      tlsFault(error.code, error.message, url, variable)
    )
  }
  return faultByMessage(error.message, url, variable)
}

function networkFault(code: string, url: string, variable: string): DatabaseFault | undefined {
  const { host } = placeOf(url)
  const setUrl = `set ${variable} to the right place.`
  switch (code) {
    case 'ECONNREFUSED':
      return { message: `No PostgreSQL listens at ${host}.`, repair: `Start PostgreSQL there, or ${setUrl}` }
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { message: `The host of ${host} is not known.`, repair: `Make it known to DNS, or ${setUrl}` }
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return { message: `${host} does not answer.`, repair: `Look at the network and firewall, or ${setUrl}` }
    case 'ECONNRESET':
    case 'EPIPE':
      return {
        message: `${host} closed the connection.`,
        repair: `Look at the log of PostgreSQL there, or ${setUrl}`,
      }
    default:
      return undefined
  }
}

/** By the codes of OpenSSL and of Node, which both name certificates. */
function tlsFault(code: string, message: string, url: string, variable: string): DatabaseFault | undefined {
  const { host } = placeOf(url)
  const authority = `Add sslrootcert=FILE to ${variable}, with the certificate of the authority that signed it.`
  switch (code) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return {
        message: `The TLS certificate of PostgreSQL at ${host} is signed by an authority that is not known here.`,
        repair: `${authority} sslmode=no-verify encrypts without verifying.`,
      }
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return {
        message: `The TLS certificate of PostgreSQL at ${host} is for another host name.`,
        repair: `Set ${variable} to the name that the certificate is for, or have one issued for this name.`,
      }
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return {
        message: `The TLS certificate of PostgreSQL at ${host} ${code === 'CERT_HAS_EXPIRED' ? 'has expired' : 'is not valid yet'}.`,
        repair: 'Renew it there and reload PostgreSQL; also look at the clocks of both machines.',
      }
    default:
      if (!/^(?:ERR_SSL|ERR_TLS|EPROTO|CERT_)/.test(code)) return undefined
      return {
        message: `The TLS connection to PostgreSQL at ${host} failed: ${message}.`,
        repair: `Look at sslmode, sslcert, sslkey and sslrootcert in ${variable}, and at the log of PostgreSQL.`,
      }
  }
}

/** By SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
function refusal(code: string, message: string, url: string, variable: string): DatabaseFault | undefined {
  const { host, user, database } = placeOf(url)
  switch (code) {
    case '3D000':
      return {
        message: `There is no database ${database} at ${host}.`,
        repair: `create database ${pg.escapeIdentifier(database)} template template0 encoding 'UTF8' locale 'C.UTF-8';`,
      }
    case '28P01':
      return {
        message: `PostgreSQL at ${host} refused the password of ${user}.`,
        repair: `Set ${variable} to postgres://${user}:PASSWORD@${host}/${database} with the right password.`,
      }
    case '28000':
      return {
        message: `PostgreSQL at ${host} does not let ${user} in: ${message}.`,
        repair: `create role ${pg.escapeIdentifier(user)} login; or a line for it in pg_hba.conf, then select pg_reload_conf();`,
      }
    case '42501':
      return {
        message: `${user} may not do this: ${message}.`,
        repair: 'Set DATABASE_OWNER_URL to connect as the owner of the tables.',
      }
    case '42P01':
      return {
        message: `The database ${database} lacks a table: ${message}.`,
        repair: 'Run quartermaster migrate.',
      }
    case '53300':
      return {
        message: `PostgreSQL at ${host} has no connection free.`,
        repair: 'Raise max_connections there, or lower DATABASE_POOL_MAX of the processes that serve.',
      }
    case '08P01':
      return {
        message: `What listens at ${host} is a pooler that refuses how requests are served: ${message}.`,
        repair: 'export DATABASE_POOLER=transaction',
      }
    case '57P03':
      return { message: `PostgreSQL at ${host} is starting or stopping.`, repair: 'Try again in a moment.' }
    default:
      return undefined
  }
}

/** What `pg` throws before the server has said anything has no code. */
function faultByMessage(message: string, url: string, variable: string): DatabaseFault | undefined {
  const { host, user, database } = placeOf(url)
  if (message.includes('password must be a')) {
    return {
      message: `PostgreSQL at ${host} asks for a password and ${variable} has none.`,
      repair: `Set ${variable} to postgres://${user}:PASSWORD@${host}/${database}.`,
    }
  }
  if (message.includes('does not support SSL')) {
    const repair = `Take sslmode out of ${variable}, or turn on ssl there.`
    return { message: `PostgreSQL at ${host} has no TLS.`, repair }
  }
  if (message.includes('timeout')) {
    const repair = `Look at the network and firewall, or set ${variable} to the right place.`
    return { message: `${host} does not answer.`, repair }
  }
  return undefined
}
