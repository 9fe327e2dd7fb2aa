import { limits } from '../limits/limits.ts'
import type { SettingRule } from './setting-value.ts'

const perMinute = (standard: number) =>
  ({ type: 'integer', default: standard, minimum: 1, maximum: limits.requestsPerMinuteMax }) as const

const httpUrl = { type: 'string', pattern: /^https?:\/\// } as const
const postgresUrl = { type: 'string', pattern: /^postgres(ql)?:\/\// } as const

/**
 * Every setting: what its text may be, its default, and its meaning, in Markdown with links from docs/operating/configure.md, whose
 * table `npm run docs` writes. One without a default is optional.
 */
export const declarations = {
  QUARTERMASTER_SETTINGS_FILE: {
    type: 'string',
    meaning: 'a file with more settings, [which SIGHUP rereads](processes.md#change-settings)',
  },
  DATABASE_URL: {
    ...postgresUrl,
    meaning:
      'for requests: `postgres://user:password@host:port/database`; separate [several hosts](database-servers.md#several-database-servers) by commas',
  },
  DATABASE_OWNER_URL: {
    ...postgresUrl,
    meaning: "the owner's login, for operator commands. If not set: `DATABASE_URL`",
  },
  DATABASE_REPLICA_URLS: {
    ...postgresUrl,
    meaning:
      '[replicas](database-servers.md#replicas) for long reads and exports; separate URLs by spaces, hosts by commas',
  },
  QUARTERMASTER_DATABASE_ROLE: {
    type: 'string',
    default: 'quartermaster_server',
    pattern: /^[a-z_][a-z0-9_]*$|^$/,
    meaning: 'the role of serving connections; empty: that of the login, for poolers that allow no switch',
  },
  QUARTERMASTER_DATABASE_WRITE_ROLE: {
    type: 'string',
    pattern: /^[a-z_][a-z0-9_]*$/,
    meaning:
      'the role of connections for writes. If not set: `quartermaster_writer`, or `QUARTERMASTER_DATABASE_ROLE` if you set that',
  },
  QUARTERMASTER_DATABASE_POOLER: {
    enum: ['none', 'transaction'],
    default: 'none',
    meaning:
      '`transaction` behind a pooler in transaction mode, such as [PgBouncer](database-servers.md#pgbouncer)',
  },
  QUARTERMASTER_DATABASE_POOL_MAX: {
    type: 'integer',
    default: 10,
    minimum: 1,
    maximum: 1000,
    meaning: 'connections of a process for long reads, and as many for writes; short reads share three',
  },
  REDIS_URL: {
    type: 'string',
    pattern: /^rediss?:\/\//,
    meaning:
      'shares request counts: `redis://host:port/0`, `rediss://` for [TLS](tls-and-hosts.md#tls-to-postgresql-and-redis). If not set, each `serve` counts separately',
  },
  QUARTERMASTER_REQUESTS_PER_MINUTE: {
    ...perMinute(limits.requestsPerMinute),
    meaning: 'requests per minute of an account, unless set by `account limit`',
  },
  QUARTERMASTER_KEY_REQUESTS_PER_MINUTE: {
    ...perMinute(limits.keyRequestsPerMinute),
    meaning: 'the same of each key',
  },
  QUARTERMASTER_ACCOUNT_READS_MAX: {
    type: 'integer',
    default: limits.accountReadsMax,
    minimum: 1,
    maximum: 1000,
    meaning:
      'concurrent long reads of an account, in each service: fewer than the database has CPUs. The workers of `--processes` share them, at least one each',
  },
  QUARTERMASTER_READ_MS_MAX: {
    type: 'integer',
    default: limits.readMsMax,
    minimum: 10,
    maximum: 600_000,
    meaning: 'milliseconds after which PostgreSQL cancels a read: 504',
  },
  QUARTERMASTER_EXPORT_MS_MAX: {
    type: 'integer',
    default: limits.exportMsMax,
    minimum: 10,
    maximum: 86_400_000,
    meaning: 'milliseconds after which an [export](../reference/export.md) is aborted',
  },
  QUARTERMASTER_SHUTDOWN_DELAY_MS: {
    type: 'integer',
    default: limits.shutdownDelayMs,
    minimum: 0,
    maximum: 600_000,
    meaning: 'milliseconds of serving after SIGTERM, with `/readyz` at 503',
  },
  QUARTERMASTER_PROCESSES: {
    type: 'string',
    pattern: /^(auto|[1-9]|[12][0-9]|3[0-2])$/,
    meaning: `[processes that share the port](processes.md), 1 to ${limits.processesMax}, or \`auto\` for one per CPU. If not set: a single process`,
  },
  QUARTERMASTER_HOST: {
    type: 'string',
    default: '127.0.0.1',
    meaning: 'the address to listen on; `0.0.0.0` or `::` for all',
  },
  PORT: {
    type: 'integer',
    default: 8080,
    minimum: 0,
    maximum: 65_535,
    meaning: 'the port; 0 for any free one',
  },
  QUARTERMASTER_DOMAIN: {
    type: 'string',
    default: 'localhost',
    pattern: /^[a-z0-9.-]+$/,
    meaning: 'the account `acme` has the host `acme.<QUARTERMASTER_DOMAIN>`',
  },
  QUARTERMASTER_DEFAULT_ACCOUNT: {
    type: 'string',
    pattern: /^[a-z0-9-]+$/,
    meaning: 'the account for other hosts, such as `localhost` or an IP address',
  },
  QUARTERMASTER_TRUSTED_PROXIES: {
    type: 'string',
    meaning: 'proxies whose `X-Forwarded-*` headers are trusted: `10.0.0.0/8,192.168.1.7`',
  },
  QUARTERMASTER_WEBHOOK_SECRET: {
    type: 'string',
    minLength: limits.webhookMasterKeyCharactersMin,
    meaning: `the master key of [webhook](webhooks.md) secrets, at least ${limits.webhookMasterKeyCharactersMin} characters. If not set, there are no webhooks`,
  },
  QUARTERMASTER_WEBHOOK_SECRET_PREVIOUS: {
    type: 'string',
    minLength: limits.webhookMasterKeyCharactersMin,
    meaning: 'the old one, while you [change it](webhooks.md#change-the-master-key)',
  },
  QUARTERMASTER_WEBHOOK_NETWORKS: {
    type: 'string',
    meaning: 'private addresses that webhooks may reach: `10.1.0.0/16,10.2.0.7`',
  },
  QUARTERMASTER_WEBHOOK_DELIVERY: {
    enum: ['on', 'off'],
    default: 'on',
    meaning: '`off` if only `quartermaster deliver` sends webhooks',
  },
  NOTIFY_SOCKET: {
    type: 'string',
    meaning: 'set by [systemd](processes.md#systemd) for `Type=notify`',
  },
  QUARTERMASTER_ADMIN_PORT: {
    type: 'integer',
    minimum: 0,
    maximum: 65_535,
    meaning: 'the port for metrics and health checks; 0 for any free one. If not set, there is no `/metrics`',
  },
  QUARTERMASTER_ADMIN_HOST: {
    type: 'string',
    default: '127.0.0.1',
    meaning: 'its address. It requires no key: never make it public',
  },
  QUARTERMASTER_OPERATOR_PORT: {
    type: 'integer',
    minimum: 0,
    maximum: 65_535,
    meaning: 'the port of `operator serve`, for the [operator API](operator-api.md#operator-api)',
  },
  QUARTERMASTER_OPERATOR_HOST: {
    type: 'string',
    default: '127.0.0.1',
    meaning: 'its address: never make it public',
  },
  OTEL_SERVICE_NAME: {
    type: 'string',
    meaning:
      '`service.name` in metrics and traces. If not set: that of `OTEL_RESOURCE_ATTRIBUTES`, otherwise `quartermaster`',
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    type: 'string',
    meaning: 'more attributes: `key=value,key=value`',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    ...httpUrl,
    meaning:
      'the OpenTelemetry collector for [metrics](watch.md#metrics-over-otlp) and [traces](watch.md#traces): `http://127.0.0.1:4318`. If not set, nothing is sent',
  },
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: {
    ...httpUrl,
    meaning: 'the URL for metrics, if it differs: `http://127.0.0.1:4318/v1/metrics`',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    ...httpUrl,
    meaning: 'the URL for traces, if it differs: `http://127.0.0.1:4318/v1/traces`',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    type: 'string',
    meaning: 'headers for the collector, such as a token: `key=value,key=value`',
  },
  /** Prometheus reads metrics from the admin port, whatever is set here. */
  OTEL_METRICS_EXPORTER: {
    type: 'string',
    pattern: /^(none|(otlp|prometheus)( *, *(otlp|prometheus))*)$/,
    meaning:
      '`otlp` sends metrics, without an endpoint to `http://localhost:4318`; `none` sends none; `prometheus` requires the admin port',
  },
  OTEL_METRIC_EXPORT_INTERVAL: {
    type: 'integer',
    default: 60_000,
    minimum: 100,
    maximum: 3_600_000,
    meaning: 'milliseconds between transmissions of metrics',
  },
  OTEL_TRACES_EXPORTER: { enum: ['otlp', 'none'], meaning: '`otlp` or `none`, as for metrics' },
  OTEL_TRACES_SAMPLER_ARG: {
    type: 'number',
    default: 0.01,
    minimum: 0,
    maximum: 1,
    meaning: "the fraction of requests to trace, unless a trusted proxy's `traceparent` decides",
  },
  QUARTERMASTER_LOG_LEVEL: {
    enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    default: 'info',
    meaning: 'the lowest level that is logged',
  },
  QUARTERMASTER_LOG_DESTINATION: {
    enum: ['stderr', 'stdout'],
    default: 'stderr',
    meaning: 'where `serve` writes its log',
  },
} as const satisfies Readonly<Record<string, SettingRule & { readonly meaning: string }>>
