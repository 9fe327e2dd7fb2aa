import type { Config } from '../config.ts'
import type { ConfigFault } from '../config-fault.ts'
import { invalidNetworks } from '../networks.ts'
import { invalidUrls } from './database/invalid-urls.ts'

/** Faults of a configuration that matches its schema. No connection is opened; the files that a URL names are read. */
export function configurationFaults(config: Config): ConfigFault[] {
  const variable = 'QUARTERMASTER_TRUSTED_PROXIES'
  const networks = invalidNetworks(config[variable]).map((network) => ({
    variable,
    message: `${variable} has ${JSON.stringify(network)}, which is not an IP address or network.`,
    repair: `Set ${variable} to IP addresses or networks, such as 10.0.0.0/8,192.168.1.7.`,
  }))
  return [...invalidUrls(config), ...networks]
}
