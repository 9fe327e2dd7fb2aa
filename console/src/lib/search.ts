/** The parameters of a console URL. Every value is text, as it was typed: the service validates it. */
export type Search = Readonly<Record<string, string | undefined>>

export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text))
}

export function stringifySearch(search: Record<string, unknown>): string {
  const parts = Object.entries(search).flatMap(([name, value]) =>
    typeof value === 'string' && value !== '' ? [`${encode(name)}=${encode(value)}`] : [],
  )
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

/** Leaves characters readable that need no encoding in a query and that common proxies accept. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(?:2C|2F|3A|3B|3D|40|5B|5D)/g, decodeURIComponent)
}

/** The parameters that are texts: all that this router parses. */
export function textsOf(search: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(search).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
