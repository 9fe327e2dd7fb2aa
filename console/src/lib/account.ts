/** The name of the account: the first part of its host. An address or a single name is shown as it is. */
export function accountOf({ hostname, host }: { readonly hostname: string; readonly host: string }): string {
  const [name = '', ...rest] = hostname.split('.')
  return rest.length === 0 || /^[\d.]+$/.test(hostname) || hostname.startsWith('[') ? host : name
}
