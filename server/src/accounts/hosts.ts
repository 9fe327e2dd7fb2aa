/** How the host name of a request determines its account. */
export interface Hosts {
  readonly serviceDomain: string
  /** The account of hosts without a label, such as `localhost`. */
  readonly defaultAccount: string | undefined
}

/** `acme` for `acme.<service domain>`. Undefined if the host belongs to no account. */
export function accountNameOf(host: string | undefined, hosts: Hosts): string | undefined {
  if (host === undefined) return undefined
  const name = host.replace(/:\d+$/, '').toLowerCase()
  const suffix = `.${hosts.serviceDomain}`
  if (name.endsWith(suffix)) {
    const label = name.slice(0, -suffix.length)
    return /^[a-z0-9-]{1,63}$/.test(label) ? label : undefined
  }
  return isWithoutLabel(name, hosts.serviceDomain) ? hosts.defaultAccount : undefined
}

function isWithoutLabel(name: string, serviceDomain: string): boolean {
  return (
    name === serviceDomain ||
    name === 'localhost' ||
    /^\d{1,3}(\.\d{1,3}){3}$/.test(name) ||
    /^\[[0-9a-f:.]+\]$/.test(name)
  )
}
