import type { Config } from '../config/config.ts'
import type { ConfigFault } from '../config/config-fault.ts'
import { invalidNetworks } from '../networks.ts'
import { isKeyValueList } from '../observability/otlp.ts'
import { invalidUrls } from './database/invalid-urls.ts'

/** Faults of a configuration that matches its schema. No connection is opened; the files that a URL names are read. */
export function configurationFaults(config: Config): ConfigFault[] {
  return [...invalidUrls(config), ...invalidNetworkSettings(config), ...invalidTelemetry(config)]
}

const networkSettings = ['QUARTERMASTER_TRUSTED_PROXIES', 'QUARTERMASTER_WEBHOOK_NETWORKS'] as const

function invalidNetworkSettings(config: Config): ConfigFault[] {
  return networkSettings.flatMap((variable) =>
    invalidNetworks(config[variable]).map((network) => ({
      variable,
      message: `${variable} has ${JSON.stringify(network)}, which is not an IP address or network.`,
      repair: `Set ${variable} to IP addresses or networks, such as 10.0.0.0/8,192.168.1.7.`,
    })),
  )
}

function invalidTelemetry(config: Config): ConfigFault[] {
  const lists = (['OTEL_RESOURCE_ATTRIBUTES', 'OTEL_EXPORTER_OTLP_HEADERS'] as const)
    .filter((variable) => !isKeyValueList(config[variable] ?? ''))
    .map((variable) => ({
      variable,
      message: `${variable} is not a list of key=value, separated by commas.`,
      repair: 'Percent-encode commas and equal signs in keys and values.',
    }))
  const isUnread =
    config.OTEL_METRICS_EXPORTER?.includes('prometheus') === true &&
    config.QUARTERMASTER_ADMIN_PORT === undefined
  if (!isUnread) return lists
  const fault = {
    variable: 'OTEL_METRICS_EXPORTER',
    message: 'OTEL_METRICS_EXPORTER has prometheus, but QUARTERMASTER_ADMIN_PORT is not set.',
    repair: 'Set QUARTERMASTER_ADMIN_PORT to the port of /metrics.',
  }
  return [...lists, fault]
}
