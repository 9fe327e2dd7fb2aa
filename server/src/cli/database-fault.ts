import pg from 'pg'

/** What a database error means to an operator, and what to do about it. */
export interface DatabaseFault {
  readonly fact: string
  readonly mend: string
}

/** Where a URL leads, without its password. */
export function placeOf(url: string): {
  readonly host: string
  readonly user: string
  readonly database: string
} {
  const { hostname, port, username, pathname } = new URL(url)
  const user = decodeURIComponent(username)
  const database = decodeURIComponent(pathname.slice(1)) || user
  return { host: `${hostname || 'localhost'}:${port || '5432'}`, user, database }
}

/** Undefined for an error that is not about the database or is not known: it then speaks for itself. */
export function databaseFault(error: unknown, url: string, variable: string): DatabaseFault | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') {
    return networkFault(error.code, url, variable) ?? refusal(error.code, error.message, url, variable)
  }
  return faultByMessage(error.message, url, variable)
}

function networkFault(code: string, url: string, variable: string): DatabaseFault | undefined {
  const { host } = placeOf(url)
  const setUrl = `set ${variable} to the right place.`
  switch (code) {
    case 'ECONNREFUSED':
      return { fact: `No PostgreSQL listens at ${host}.`, mend: `Start PostgreSQL there, or ${setUrl}` }
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { fact: `The host of ${host} is not known.`, mend: `Make it known to DNS, or ${setUrl}` }
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return { fact: `${host} does not answer.`, mend: `Look at the network and firewall, or ${setUrl}` }
    case 'ECONNRESET':
    case 'EPIPE':
      return {
        fact: `${host} closed the connection.`,
        mend: `Look at the log of PostgreSQL there, or ${setUrl}`,
      }
    default:
      return undefined
  }
}

/** By SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
function refusal(code: string, message: string, url: string, variable: string): DatabaseFault | undefined {
  const { host, user, database } = placeOf(url)
  switch (code) {
    case '3D000':
      return {
        fact: `There is no database ${database} at ${host}.`,
        mend: `create database ${pg.escapeIdentifier(database)} template template0 encoding 'UTF8' locale 'C.UTF-8';`,
      }
    case '28P01':
      return {
        fact: `PostgreSQL at ${host} refused the password of ${user}.`,
        mend: `Set ${variable} to postgres://${user}:PASSWORD@${host}/${database} with the right password.`,
      }
    case '28000':
      return {
        fact: `PostgreSQL at ${host} does not let ${user} in: ${message}.`,
        mend: `create role ${pg.escapeIdentifier(user)} login; or a line for it in pg_hba.conf, then select pg_reload_conf();`,
      }
    case '42501':
      return {
        fact: `${user} may not do this: ${message}.`,
        mend: 'Set DATABASE_OWNER_URL to connect as the owner of the tables.',
      }
    case '42P01':
      return {
        fact: `The database ${database} lacks a table: ${message}.`,
        mend: 'Run quartermaster migrate.',
      }
    case '53300':
      return {
        fact: `PostgreSQL at ${host} has no connection free.`,
        mend: 'Raise max_connections there, or lower DATABASE_POOL_MAX of the processes that serve.',
      }
    case '57P03':
      return { fact: `PostgreSQL at ${host} is starting or stopping.`, mend: 'Try again in a moment.' }
    default:
      return undefined
  }
}

/** What `pg` throws before the server has said anything has no code. */
function faultByMessage(message: string, url: string, variable: string): DatabaseFault | undefined {
  const { host, user, database } = placeOf(url)
  if (message.includes('password must be a')) {
    return {
      fact: `PostgreSQL at ${host} asks for a password and ${variable} has none.`,
      mend: `Set ${variable} to postgres://${user}:PASSWORD@${host}/${database}.`,
    }
  }
  if (message.includes('does not support SSL')) {
    const mend = `Take sslmode out of ${variable}, or turn on ssl there.`
    return { fact: `PostgreSQL at ${host} has no TLS.`, mend }
  }
  if (message.includes('timeout')) {
    const mend = `Look at the network and firewall, or set ${variable} to the right place.`
    return { fact: `${host} does not answer.`, mend }
  }
  return undefined
}
