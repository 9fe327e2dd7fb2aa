import pg from 'pg'

/** The cause of a database error in words for an operator, and what to do about it. */
export interface DatabaseFault {
  readonly message: string
  readonly repair: string
  /** The same command can succeed later. */
  readonly isUnavailable?: boolean
}

/** Host, user and database of a URL, without the password. A URL may name several hosts, separated by commas. */
export function targetOf(url: string): {
  readonly host: string
  readonly user: string
  readonly database: string
} {
  const [, authority = '', path = ''] = /^\w+:\/\/([^/?#]*)(?:\/([^?#]*))?/.exec(url) ?? []
  // The last @ ends the password, as in `pg`: the password may contain one that is not percent-encoded.
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

/** Undefined for an error that is not recognised: its own message is then all there is. */
export function databaseFault(error: unknown, url: string, variable: string): DatabaseFault | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') {
    return (
      networkFault(error.code, url, variable) ??
      sqlStateFault(error.code, error.message, url, variable) ??
      tlsFault(error.code, error.message, url, variable)
    )
  }
  return faultByMessage(error.message, url, variable)
}

function networkFault(code: string, url: string, variable: string): DatabaseFault | undefined {
  const { host } = targetOf(url)
  switch (code) {
    case 'ECONNREFUSED':
      return {
        message: `No PostgreSQL listens at ${host}.`,
        repair: `Start PostgreSQL there, or correct ${variable}.`,
        isUnavailable: true,
      }
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return {
        message: `The host name of ${host} cannot be resolved.`,
        repair: `Add it to DNS, or correct ${variable}.`,
        isUnavailable: true,
      }
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return notResponding(host, variable)
    case 'ECONNRESET':
    case 'EPIPE':
      return {
        message: `${host} closed the connection.`,
        repair: `Check the PostgreSQL log there, or correct ${variable}.`,
        isUnavailable: true,
      }
    default:
      return undefined
  }
}

function notResponding(host: string, variable: string): DatabaseFault {
  return {
    message: `${host} does not respond.`,
    repair: `Check the network and the firewall, or correct ${variable}.`,
    isUnavailable: true,
  }
}

/** By error codes of OpenSSL and of Node. */
function tlsFault(code: string, message: string, url: string, variable: string): DatabaseFault | undefined {
  const { host } = targetOf(url)
  switch (code) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return {
        message: `The TLS certificate of PostgreSQL at ${host} is signed by an unknown certificate authority.`,
        repair:
          `Add sslrootcert=FILE to ${variable}, with the certificate of that authority. ` +
          'sslmode=no-verify encrypts without verifying.',
      }
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return {
        message: `The TLS certificate of PostgreSQL at ${host} is for another host name.`,
        repair: `Set ${variable} to the host name of the certificate, or have a certificate issued for this name.`,
      }
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return {
        message: `The TLS certificate of PostgreSQL at ${host} ${code === 'CERT_HAS_EXPIRED' ? 'has expired' : 'is not valid yet'}.`,
        repair: 'Renew the certificate and reload PostgreSQL. Also check the clocks of both machines.',
      }
    default:
      if (!/^(?:ERR_SSL|ERR_TLS|EPROTO|CERT_)/.test(code)) return undefined
      return {
        message: `The TLS connection to PostgreSQL at ${host} failed: ${message}.`,
        repair: `Check sslmode, sslcert, sslkey and sslrootcert in ${variable}, and the PostgreSQL log.`,
      }
  }
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
function sqlStateFault(
  code: string,
  message: string,
  url: string,
  variable: string,
): DatabaseFault | undefined {
  const { host, user, database } = targetOf(url)
  switch (code) {
    case '3D000':
      return {
        message: `There is no database ${database} at ${host}.`,
        repair: `create database ${pg.escapeIdentifier(database)} template template0 encoding 'UTF8' locale_provider libc locale 'C.UTF-8';`,
      }
    case '28P01':
      return {
        message: `PostgreSQL at ${host} rejected the password of ${user}.`,
        repair: `Set ${variable} to postgres://${user}:PASSWORD@${host}/${database} with the right password.`,
      }
    case '28000':
      return {
        message: `PostgreSQL at ${host} rejected the user ${user}: ${message}.`,
        repair: `create role ${pg.escapeIdentifier(user)} login; or add a line for it to pg_hba.conf, then select pg_reload_conf();`,
      }
    case '42501':
      return {
        message: `${user} lacks a privilege: ${message}.`,
        repair: 'Set DATABASE_OWNER_URL to connect as the owner of the tables.',
      }
    case '42P01':
      return {
        message: `The database ${database} lacks a table: ${message}.`,
        repair: 'Run quartermaster migrate.',
      }
    case '53300':
      return {
        message: `PostgreSQL at ${host} has no free connection.`,
        repair:
          'Raise max_connections there, or lower QUARTERMASTER_DATABASE_POOL_MAX of the serving processes.',
        isUnavailable: true,
      }
    case '08P01':
      return {
        message: `At ${host} is a connection pooler that rejects serving connections: ${message}.`,
        repair: 'export QUARTERMASTER_DATABASE_POOLER=transaction',
      }
    case '57P01':
    case '57P03':
      return {
        message: `PostgreSQL at ${host} is starting or stopping.`,
        repair: 'Try again in a moment.',
        isUnavailable: true,
      }
    default:
      return undefined
  }
}

/** Errors that `pg` throws before the server has responded have no code. */
function faultByMessage(message: string, url: string, variable: string): DatabaseFault | undefined {
  const { host, user, database } = targetOf(url)
  if (message.includes('password must be a')) {
    return {
      message: `PostgreSQL at ${host} requires a password, but ${variable} has none.`,
      repair: `Set ${variable} to postgres://${user}:PASSWORD@${host}/${database}.`,
    }
  }
  if (message.includes('does not support SSL')) {
    return {
      message: `PostgreSQL at ${host} does not support TLS.`,
      repair: `Remove sslmode from ${variable}, or enable ssl there.`,
    }
  }
  if (message.includes('timeout')) return notResponding(host, variable)
  return undefined
}
