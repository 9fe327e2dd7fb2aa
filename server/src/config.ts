import { envSchema } from 'env-schema'
import { type Static, Type } from 'typebox'
import { limits } from './limits.ts'

const perMinute = (usual: number) =>
  Type.Integer({ default: usual, minimum: 1, maximum: limits.requestsPerMinuteMax })

const schema = Type.Object({
  /** The database that requests are served from. */
  DATABASE_URL: Type.Optional(Type.String({ pattern: '^postgres(ql)?://' })),
  /** The same database as its owner: migrations and the operator's commands. Without it, DATABASE_URL. */
  DATABASE_OWNER_URL: Type.Optional(Type.String({ pattern: '^postgres(ql)?://' })),
  /** The role that serving connections take on. Empty where a pooler in between refuses it. */
  DATABASE_ROLE: Type.String({ default: 'quartermaster_server', pattern: '^[a-z_][a-z0-9_]*$|^$' }),
  /** `transaction` where a pooler such as PgBouncer gives every transaction another backend. */
  DATABASE_POOLER: Type.Enum(['none', 'transaction'], { default: 'none' }),
  /** Connections of a serving process for lists that may take long; as many again for writes. Quick reads have their own. */
  DATABASE_POOL_MAX: Type.Integer({ default: 10, minimum: 1, maximum: 1000 }),
  /** Where the processes share what they count for rate limits. Without it each counts alone. */
  REDIS_URL: Type.Optional(Type.String({ pattern: '^rediss?://' })),
  /** For accounts that the operator gave no limits of their own. */
  REQUESTS_PER_MINUTE: perMinute(limits.requestsPerMinute),
  KEY_REQUESTS_PER_MINUTE: perMinute(limits.keyRequestsPerMinute),
  /** Long reads of one account at once, in this process. */
  ACCOUNT_READS_MAX: Type.Integer({ default: limits.accountReadsMax, minimum: 1, maximum: 1000 }),
  READ_MS_MAX: Type.Integer({ default: limits.readMsMax, minimum: 10, maximum: 600_000 }),
  /** An export that has not ended by then is cut. */
  EXPORT_MS_MAX: Type.Integer({ default: limits.exportMsMax, minimum: 10, maximum: 86_400_000 }),
  /** After SIGTERM `/readyz` answers 503, and requests are served for this long before the port is closed. */
  SHUTDOWN_DELAY_MS: Type.Integer({ default: limits.shutdownDelayMs, minimum: 0, maximum: 600_000 }),
  HOST: Type.String({ default: '127.0.0.1' }),
  PORT: Type.Integer({ default: 8080, minimum: 0, maximum: 65_535 }),
  /** `acme.<SERVICE_DOMAIN>` is the host of the account acme. */
  SERVICE_DOMAIN: Type.String({ default: 'localhost', pattern: '^[a-z0-9.-]+$' }),
  /** The account of hosts without a label (`localhost`, an IP address), for a deployment that has only one. */
  DEFAULT_ACCOUNT: Type.Optional(Type.String({ pattern: '^[a-z0-9-]+$' })),
  /** Addresses or networks, separated by commas, whose X-Forwarded-Host counts. */
  TRUSTED_PROXIES: Type.Optional(Type.String()),
  /** Where metrics are shown, apart from the public port. Without it there are none, and they cost nothing. */
  ADMIN_PORT: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
  ADMIN_HOST: Type.String({ default: '127.0.0.1' }),
  /** The collector that traces go to. Without it there are none. */
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(Type.String({ pattern: '^https?://' })),
  /** The part of requests that is traced, unless a trusted proxy has decided. */
  OTEL_TRACES_SAMPLER_ARG: Type.Number({ default: 0.01, minimum: 0, maximum: 1 }),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], { default: 'info' }),
})

export type Config = Readonly<Static<typeof schema>>

/** Of this one the empty text is a value: serving connections keep the login's own role. */
const mayBeEmpty = 'DATABASE_ROLE'

/**
 * Reads the environment, once: only `main.ts` calls it, and hands the frozen result down. A variable that is set to the empty
 * text counts as absent: `REDIS_URL=` in a file of settings says that there is none.
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const known = Object.fromEntries(
    Object.keys(schema.properties)
      .map((name) => [name, environment[name]] as const)
      .filter(([name, given]) => given !== undefined && (given !== '' || name === mayBeEmpty)),
  )
  return Object.freeze(envSchema<Static<typeof schema>>({ schema, data: known, env: false }))
}
