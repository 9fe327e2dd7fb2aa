import { envSchema } from 'env-schema'
import { type Static, Type } from 'typebox'
import { limits } from './limits.ts'

const perMinute = (standard: number) =>
  Type.Integer({ default: standard, minimum: 1, maximum: limits.requestsPerMinuteMax })

const schema = Type.Object({
  /** The database that serves requests. */
  DATABASE_URL: Type.Optional(Type.String({ pattern: '^postgres(ql)?://' })),
  /** The same database, as its owner, for migrations and the operator's commands. Default: DATABASE_URL. */
  DATABASE_OWNER_URL: Type.Optional(Type.String({ pattern: '^postgres(ql)?://' })),
  /** The role that serving connections SET. Empty if a connection pooler does not allow that. */
  QUARTERMASTER_DATABASE_ROLE: Type.String({
    default: 'quartermaster_server',
    pattern: '^[a-z_][a-z0-9_]*$|^$',
  }),
  /** `transaction` behind a pooler such as PgBouncer in transaction mode, where each transaction may use another backend. */
  QUARTERMASTER_DATABASE_POOLER: Type.Enum(['none', 'transaction'], { default: 'none' }),
  /** Connections of a process for long reads; the same number again for writes. Pipelined connections come in addition. */
  QUARTERMASTER_DATABASE_POOL_MAX: Type.Integer({ default: 10, minimum: 1, maximum: 1000 }),
  /** Redis, in which processes share rate-limit counters. Without it, each process counts separately. */
  REDIS_URL: Type.Optional(Type.String({ pattern: '^rediss?://' })),
  /** For accounts without limits of their own. */
  QUARTERMASTER_REQUESTS_PER_MINUTE: perMinute(limits.requestsPerMinute),
  QUARTERMASTER_KEY_REQUESTS_PER_MINUTE: perMinute(limits.keyRequestsPerMinute),
  /** Concurrent long reads of one account in this process. */
  QUARTERMASTER_ACCOUNT_READS_MAX: Type.Integer({
    default: limits.accountReadsMax,
    minimum: 1,
    maximum: 1000,
  }),
  QUARTERMASTER_READ_MS_MAX: Type.Integer({ default: limits.readMsMax, minimum: 10, maximum: 600_000 }),
  /** Timeout of an export. */
  QUARTERMASTER_EXPORT_MS_MAX: Type.Integer({
    default: limits.exportMsMax,
    minimum: 10,
    maximum: 86_400_000,
  }),
  /** After SIGTERM `/readyz` returns 503, and requests are served for this long before the port is closed. */
  QUARTERMASTER_SHUTDOWN_DELAY_MS: Type.Integer({
    default: limits.shutdownDelayMs,
    minimum: 0,
    maximum: 600_000,
  }),
  QUARTERMASTER_HOST: Type.String({ default: '127.0.0.1' }),
  PORT: Type.Integer({ default: 8080, minimum: 0, maximum: 65_535 }),
  /** `acme.<QUARTERMASTER_DOMAIN>` is the host of the account acme. */
  QUARTERMASTER_DOMAIN: Type.String({ default: 'localhost', pattern: '^[a-z0-9.-]+$' }),
  /** The account of hosts without an account label (`localhost`, an IP address), for a deployment with one account. */
  QUARTERMASTER_DEFAULT_ACCOUNT: Type.Optional(Type.String({ pattern: '^[a-z0-9-]+$' })),
  /** Addresses or networks, separated by commas, whose X-Forwarded-* headers are trusted. */
  QUARTERMASTER_TRUSTED_PROXIES: Type.Optional(Type.String()),
  /** Port of `/metrics`, separate from the public port. Without it no metrics are recorded. */
  QUARTERMASTER_ADMIN_PORT: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
  QUARTERMASTER_ADMIN_HOST: Type.String({ default: '127.0.0.1' }),
  /** The OpenTelemetry collector that receives traces. Without it nothing is traced. */
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(Type.String({ pattern: '^https?://' })),
  /** The fraction of requests that is traced, unless the traceparent header of a trusted proxy decides. */
  OTEL_TRACES_SAMPLER_ARG: Type.Number({ default: 0.01, minimum: 0, maximum: 1 }),
  QUARTERMASTER_LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
  }),
})

export type Config = Readonly<Static<typeof schema>>

/** An empty QUARTERMASTER_DATABASE_ROLE is a value: serving connections use the role they log in with. */
const mayBeEmpty = 'QUARTERMASTER_DATABASE_ROLE'

/**
 * Validates the environment. Only `main.ts` calls it, once, and passes the frozen result on. An empty variable counts as
 * unset, as in a file with the line `REDIS_URL=`.
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const settings = Object.fromEntries(
    Object.keys(schema.properties)
      .map((name) => [name, environment[name]] as const)
      .filter(([name, text]) => text !== undefined && (text !== '' || name === mayBeEmpty)),
  )
  return Object.freeze(envSchema<Static<typeof schema>>({ schema, data: settings, env: false }))
}
