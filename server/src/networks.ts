import { BlockList } from 'node:net'

/** Addresses and networks, separated by commas: `10.0.0.0/8,192.168.1.7`. Throws if an entry is neither. */
export function parseNetworks(text: string | undefined): BlockList {
  const list = new BlockList()
  for (const entry of networkEntries(text)) {
    if (!addNetwork(list, entry))
      throw new Error(`"${entry}" is neither an IP address nor a network such as 10.0.0.0/8.`)
  }
  return list
}

export function invalidNetworks(text: string | undefined): string[] {
  return networkEntries(text).filter((entry) => !addNetwork(new BlockList(), entry))
}

function networkEntries(text = ''): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

function addNetwork(list: BlockList, entry: string): boolean {
  const [address = '', prefix] = entry.split('/')
  const family = address.includes(':') ? 'ipv6' : 'ipv4'
  try {
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
    return true
  } catch {
    return false
  }
}
