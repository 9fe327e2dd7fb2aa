import { limits } from '../limits/limits.ts'
import type { ConfigFault } from './config-fault.ts'
import { readSecretFiles } from './secret-files.ts'
import { InvalidSetting, type SettingRule, settingValue } from './setting-value.ts'
import { isServiceLink, unknownVariables } from './unknown-variables.ts'

const perMinute = (standard: number) =>
  ({ type: 'integer', default: standard, minimum: 1, maximum: limits.requestsPerMinuteMax }) as const

const httpUrl = { type: 'string', pattern: /^https?:\/\// } as const

/** The rule of each setting. One without a default is optional. */
const properties = {
  /** The database that serves requests. */
  DATABASE_URL: { type: 'string', pattern: /^postgres(ql)?:\/\// },
  /** The same database, as its owner, for migrations and the operator's commands. Default: DATABASE_URL. */
  DATABASE_OWNER_URL: { type: 'string', pattern: /^postgres(ql)?:\/\// },
  /** Standbys of the same database, separated by spaces, that run long reads and exports. Each URL can name several servers. */
  DATABASE_REPLICA_URLS: { type: 'string', pattern: /^postgres(ql)?:\/\// },
  /** The role that serving connections SET. Empty if a connection pooler does not allow that. */
  QUARTERMASTER_DATABASE_ROLE: {
    type: 'string',
    default: 'quartermaster_server',
    pattern: /^[a-z_][a-z0-9_]*$|^$/,
  },
  /** The role that connections for writes SET. Default: quartermaster_writer, or the role above if that is not the default. */
  QUARTERMASTER_DATABASE_WRITE_ROLE: { type: 'string', pattern: /^[a-z_][a-z0-9_]*$/ },
  /** `transaction` behind a pooler such as PgBouncer in transaction mode, where each transaction may use another backend. */
  QUARTERMASTER_DATABASE_POOLER: { enum: ['none', 'transaction'], default: 'none' },
  /** Connections of a process for long reads; the same number again for writes. Pipelined connections come in addition. */
  QUARTERMASTER_DATABASE_POOL_MAX: { type: 'integer', default: 10, minimum: 1, maximum: 1000 },
  /** Redis, in which processes share rate-limit counters. Without it, each process counts separately. */
  REDIS_URL: { type: 'string', pattern: /^rediss?:\/\// },
  /** For accounts without limits of their own. */
  QUARTERMASTER_REQUESTS_PER_MINUTE: perMinute(limits.requestsPerMinute),
  QUARTERMASTER_KEY_REQUESTS_PER_MINUTE: perMinute(limits.keyRequestsPerMinute),
  /** Concurrent long reads of one account in this process. */
  QUARTERMASTER_ACCOUNT_READS_MAX: {
    type: 'integer',
    default: limits.accountReadsMax,
    minimum: 1,
    maximum: 1000,
  },
  QUARTERMASTER_READ_MS_MAX: { type: 'integer', default: limits.readMsMax, minimum: 10, maximum: 600_000 },
  /** Timeout of an export. */
  QUARTERMASTER_EXPORT_MS_MAX: {
    type: 'integer',
    default: limits.exportMsMax,
    minimum: 10,
    maximum: 86_400_000,
  },
  /** After SIGTERM `/readyz` returns 503, and requests are served for this long before the port is closed. */
  QUARTERMASTER_SHUTDOWN_DELAY_MS: {
    type: 'integer',
    default: limits.shutdownDelayMs,
    minimum: 0,
    maximum: 600_000,
  },
  /** Worker processes of `serve`, which share one port. Without it, one process serves requests itself. */
  QUARTERMASTER_PROCESSES: { type: 'string', pattern: /^(auto|[1-9]|[12][0-9]|3[0-2])$/ },
  QUARTERMASTER_HOST: { type: 'string', default: '127.0.0.1' },
  PORT: { type: 'integer', default: 8080, minimum: 0, maximum: 65_535 },
  /** `acme.<QUARTERMASTER_DOMAIN>` is the host of the account acme. */
  QUARTERMASTER_DOMAIN: { type: 'string', default: 'localhost', pattern: /^[a-z0-9.-]+$/ },
  /** The account of hosts without an account label (`localhost`, an IP address), for a deployment with one account. */
  QUARTERMASTER_DEFAULT_ACCOUNT: { type: 'string', pattern: /^[a-z0-9-]+$/ },
  /** Addresses or networks, separated by commas, whose X-Forwarded-* headers are trusted. */
  QUARTERMASTER_TRUSTED_PROXIES: { type: 'string' },
  /** The master key from which the secrets of webhooks are derived. Without it there are no webhooks. */
  QUARTERMASTER_WEBHOOK_SECRET: { type: 'string', minLength: limits.webhookMasterKeyCharactersMin },
  /** The master key before the current one, until the secret of every webhook was rotated. */
  QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS: { type: 'string', minLength: limits.webhookMasterKeyCharactersMin },
  /** Addresses or networks, separated by commas, that webhooks may reach besides the public internet. */
  QUARTERMASTER_WEBHOOK_NETWORKS: { type: 'string' },
  /** Whether serving processes deliver webhooks. `off` if `quartermaster deliver` does. */
  QUARTERMASTER_WEBHOOK_DELIVERY: { enum: ['on', 'off'], default: 'on' },
  /** Set by systemd for a service of `Type=notify`. */
  NOTIFY_SOCKET: { type: 'string' },
  /** Port of `/metrics`, separate from the public port. Without it no metrics are recorded. */
  QUARTERMASTER_ADMIN_PORT: { type: 'integer', minimum: 0, maximum: 65_535 },
  QUARTERMASTER_ADMIN_HOST: { type: 'string', default: '127.0.0.1' },
  /** `service.name` of metrics and traces. Default: that of OTEL_RESOURCE_ATTRIBUTES, or `quartermaster`. */
  OTEL_SERVICE_NAME: { type: 'string' },
  OTEL_RESOURCE_ATTRIBUTES: { type: 'string' },
  /** The OpenTelemetry collector that receives metrics and traces. */
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl,
  /** Used as they are, without an added path. */
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: httpUrl,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl,
  OTEL_EXPORTER_OTLP_HEADERS: { type: 'string' },
  /** Prometheus reads metrics from the admin port, whatever is set here. */
  OTEL_METRICS_EXPORTER: { type: 'string', pattern: /^(none|(otlp|prometheus)( *, *(otlp|prometheus))*)$/ },
  OTEL_METRIC_EXPORT_INTERVAL: { type: 'integer', default: 60_000, minimum: 100, maximum: 3_600_000 },
  OTEL_TRACES_EXPORTER: { enum: ['otlp', 'none'] },
  /** The fraction of requests that is traced, unless the traceparent header of a trusted proxy decides. */
  OTEL_TRACES_SAMPLER_ARG: { type: 'number', default: 0.01, minimum: 0, maximum: 1 },
  QUARTERMASTER_LOG_LEVEL: {
    enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'info',
  },
  /** `stdout` for platforms that collect only that. */
  QUARTERMASTER_LOG_DESTINATION: { enum: ['stderr', 'stdout'], default: 'stderr' },
} as const

type Properties = typeof properties
type NameOf<Property> = {
  [Name in keyof Properties]: Properties[Name] extends Property ? Name : never
}[keyof Properties]
type ValueOf<Property> = Property extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Property extends { readonly type: 'string' }
    ? string
    : number
type WithDefault = NameOf<{ readonly default: unknown }>

export type Config = { readonly [Name in WithDefault]: ValueOf<Properties[Name]> } & {
  readonly [Name in Exclude<keyof Properties, WithDefault>]?: ValueOf<Properties[Name]>
}

export function writeRoleOf(config: Config): string {
  const { QUARTERMASTER_DATABASE_ROLE: role, QUARTERMASTER_DATABASE_WRITE_ROLE: writeRole } = config
  return writeRole ?? (role === 'quartermaster_server' ? 'quartermaster_writer' : role)
}

/** The roles that serving connections set. None if they keep the role of the login. */
export function servingRolesOf(config: Config): string[] {
  const roles = new Set([config.QUARTERMASTER_DATABASE_ROLE, writeRoleOf(config)])
  return [...roles].filter((role) => role !== '')
}

/** Settings that may contain a secret. Each can be read from a file: `DATABASE_URL_FILE` names the file of `DATABASE_URL`. */
export const secretSettings = [
  'DATABASE_URL',
  'DATABASE_OWNER_URL',
  'DATABASE_REPLICA_URLS',
  'REDIS_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'QUARTERMASTER_WEBHOOK_SECRET',
  'QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS',
] as const

/** An empty QUARTERMASTER_DATABASE_ROLE is a value: serving connections use the role they log in with. */
const mayBeEmpty = 'QUARTERMASTER_DATABASE_ROLE'

export interface Setting {
  readonly name: keyof Config
  /** Undefined if it is not set and has no default, and if the value is invalid. */
  readonly value: Config[keyof Config]
  readonly origin: 'default' | 'environment' | 'file'
  /** If the origin is a file: its path. */
  readonly file?: string
}

export interface LoadedConfig {
  /** Has the default of every invalid setting: use it only if there are no faults. */
  readonly config: Config
  readonly settings: readonly Setting[]
  readonly faults: readonly ConfigFault[]
}

/**
 * Reads and validates the environment and the files it names. Only `main.ts` calls it, once, and passes the frozen result on.
 * An empty variable counts as unset, as in a file with the line `REDIS_URL=`.
 */
export function loadConfig(environment: NodeJS.ProcessEnv): LoadedConfig {
  const names = settingNames()
  const files = readSecretFiles(environment, secretSettings)
  const data: Record<string, string> = Object.fromEntries(files.values)
  for (const name of names) {
    const text = environment[name]
    const isSet = text !== undefined && (text !== '' || name === mayBeEmpty)
    if (isSet && !files.paths.has(name)) data[name] = text
  }
  const { config, invalid } = validated(data)
  const previous = previousWithout(config)
  const settings = names.map((name): Setting => {
    const file = files.paths.get(name)
    if (file !== undefined) return { name, value: config[name], origin: 'file', file }
    return { name, value: config[name], origin: name in data ? 'environment' : 'default' }
  })
  const faults = [
    ...files.faults,
    ...invalid,
    ...previous,
    ...unknownVariables(environment, [...names, ...secretSettings.map((name) => `${name}_FILE`)]),
  ]
  return { config, settings, faults }
}

/** The configuration, if it has no faults. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const { config, faults } = loadConfig(environment)
  throwFaults(faults)
  return config
}

export function throwFaults(faults: readonly ConfigFault[]): void {
  if (faults.length === 0) return
  const texts = faults.map(({ message, repair }) => `${message} ${repair}`)
  throw new Error(`Invalid configuration: ${texts.join(' ')}`)
}

function settingNames(): (keyof Config)[] {
  const isSetting = (name: string): name is keyof Config => name in properties
  return Object.keys(properties).filter(isSetting)
}

type Data = Readonly<Record<string, string | undefined>>

/** The value of every setting that has a valid text or a default, and what is wrong with the others. */
function validated(data: Data): { config: Config; invalid: readonly ConfigFault[] } {
  const values: Record<string, string | number> = {}
  const invalid: ConfigFault[] = []
  for (const [name, rule] of Object.entries<SettingRule>(properties)) {
    const text = data[name]
    try {
      if (text !== undefined) values[name] = settingValue(text, rule)
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error
      invalid.push(faultOf(name, text ?? '', error.message))
    }
    if (rule.default !== undefined) values[name] ??= rule.default
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value has the type of its rule
  return { config: Object.freeze(values) as Config, invalid }
}

/** The previous master key without the current one would sign nothing. */
function previousWithout(config: Config): ConfigFault[] {
  const { QUARTERMASTER_WEBHOOK_SECRET: current, QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS: previous } = config
  if (previous === undefined || (current !== undefined && current !== previous)) return []
  return [
    {
      variable: 'QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS',
      message:
        current === undefined
          ? 'QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS is set, but QUARTERMASTER_WEBHOOK_SECRET is not.'
          : 'QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS is the same key as QUARTERMASTER_WEBHOOK_SECRET.',
      repair: 'Set QUARTERMASTER_WEBHOOK_SECRET to the new master key, or unset the previous one.',
    },
  ]
}

function faultOf(variable: string, text: string, problem: string): ConfigFault {
  return {
    variable,
    message: `${variable} ${rules[variable] ?? problem}.`,
    repair: isServiceLink(variable, text)
      ? 'Kubernetes has set it for a Service of that name: set enableServiceLinks to false in the pod.'
      : `Set ${variable} to a valid value, or unset it to use the default.`,
  }
}

/** What an invalid value does wrong, for settings that are validated by a pattern. */
const rules: Readonly<Record<string, string>> = {
  DATABASE_URL: 'does not begin with postgres://',
  DATABASE_OWNER_URL: 'does not begin with postgres://',
  DATABASE_REPLICA_URLS: 'does not begin with postgres://',
  REDIS_URL: 'does not begin with redis:// or rediss://',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'does not begin with http:// or https://',
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'does not begin with http:// or https://',
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'does not begin with http:// or https://',
  OTEL_METRICS_EXPORTER: 'is neither otlp, prometheus, a list of both, nor none',
  QUARTERMASTER_PROCESSES: `must be a number from 1 to ${limits.processesMax}, or auto`,
}
