import pg from 'pg'
import { RedisUrlWithoutTls, redisTarget } from '../../accounts/rate-limits/redis-target.ts'
import type { Config } from '../../config/config.ts'
import type { ConfigFault } from '../../config/config-fault.ts'
import {
  exampleUrl,
  InvalidDatabaseUrl,
  replicaUrls,
  serverUrls,
} from '../../postgres/primary/database-url.ts'

/**
 * Checks the URLs of the configuration before a command starts: a service with an invalid URL would fail every request.
 * Messages do not contain the URL, because it may contain a password.
 */
export function invalidUrls(config: Config): ConfigFault[] {
  const databases = [
    ...(['DATABASE_URL', 'DATABASE_OWNER_URL'] as const).flatMap((variable) =>
      databaseUrlFault(variable, config[variable], serverUrls),
    ),
    ...databaseUrlFault('DATABASE_REPLICA_URLS', config.DATABASE_REPLICA_URLS, replicaUrls),
  ]
  const others = otherUrls
    .filter((variable) => config[variable] !== undefined && !URL.canParse(config[variable]))
    .map((variable) => ({
      variable,
      message: `${variable} is not a valid URL.`,
      repair: `Set ${variable} to a URL such as ${variable === 'REDIS_URL' ? 'redis://HOST:6379/0' : 'http://HOST:4318'}.`,
    }))
  return [...databases, ...others, ...redisFault(config.REDIS_URL)]
}

const otherUrls = [
  'REDIS_URL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
] as const

function databaseUrlFault(
  variable: string,
  url: string | undefined,
  split: (url: string) => readonly string[],
): ConfigFault[] {
  if (url === undefined) return []
  try {
    // Does not connect, but reads the certificate files that the URL names.
    split(url).map((serverUrl) => new pg.Client({ connectionString: serverUrl }))
    return []
  } catch (error) {
    const unreadable = unreadableFile(variable, error)
    if (unreadable !== undefined) return [unreadable]
    const reason = error instanceof InvalidDatabaseUrl ? error.reason : 'it cannot be parsed as a URL'
    const repair = `Set ${variable} as in ${exampleUrl}. Percent-encode characters such as @ : / # in the password.`
    return [{ variable, message: `${variable} is not valid: ${reason}.`, repair }]
  }
}

function redisFault(url: string | undefined): ConfigFault[] {
  if (url === undefined || !URL.canParse(url)) return []
  const variable = 'REDIS_URL'
  try {
    redisTarget(url)
    return []
  } catch (error) {
    const unreadable = unreadableFile(variable, error)
    if (unreadable !== undefined) return [unreadable]
    if (!(error instanceof RedisUrlWithoutTls)) throw error
    const message = `${variable} is not valid: ${error.message}.`
    return [{ variable, message, repair: 'Begin it with rediss:// to use TLS, or remove the parameter.' }]
  }
}

/** Undefined if the error is not about a file. */
function unreadableFile(variable: string, error: unknown): ConfigFault | undefined {
  if (!(error instanceof Error && 'path' in error)) return undefined
  const message = `${variable} names the file ${String(error.path)}, which cannot be read.`
  return { variable, message, repair: `Make it readable for this user, or correct ${variable}.` }
}
