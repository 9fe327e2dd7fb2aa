import pg from 'pg'
import type { Config } from '../../config.ts'
import { exampleUrl, InvalidDatabaseUrl, serverUrls } from '../../postgres/database-url.ts'

export interface UnreadableUrl {
  readonly variable: string
  readonly message: string
  readonly repair: string
}

/**
 * Addresses of the configuration that no program could connect to, told before anything is started: a service that listens
 * with a mistyped URL would only fail every request. None is repeated in a message: it may hold a password.
 */
export function unreadableUrls(config: Config): UnreadableUrl[] {
  const databases = (['DATABASE_URL', 'DATABASE_OWNER_URL'] as const).flatMap((variable) =>
    databaseUrlFault(variable, config[variable]),
  )
  const others = (['REDIS_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const)
    .filter((variable) => config[variable] !== undefined && !URL.canParse(config[variable]))
    .map((variable) => ({
      variable,
      message: `${variable} is no URL.`,
      repair: `Set ${variable} to an address such as ${variable === 'REDIS_URL' ? 'redis://HOST:6379/0' : 'http://HOST:4318'}.`,
    }))
  return [...databases, ...others]
}

function databaseUrlFault(variable: string, url: string | undefined): UnreadableUrl[] {
  if (url === undefined) return []
  try {
    // Reads the certificates that it names, too, and connects to nothing.
    serverUrls(url).map((one) => new pg.Client({ connectionString: one }))
    return []
  } catch (error) {
    const file = error instanceof Error && 'path' in error ? String(error.path) : undefined
    if (file !== undefined) {
      const message = `${variable} names the file ${file}, which cannot be read.`
      return [{ variable, message, repair: `Put it there, readable for this user, or change ${variable}.` }]
    }
    const why = error instanceof InvalidDatabaseUrl ? error.reason : 'it cannot be read as a URL'
    const repair = `Set ${variable} as in ${exampleUrl}, with characters such as @ : / # of the password percent-encoded.`
    return [{ variable, message: `${variable} is not valid: ${why}.`, repair }]
  }
}
