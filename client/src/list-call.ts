import { limits } from './limits.ts'
import type { Call, CallOptions } from './sender.ts'

/** The parameters of a list, as they go on the wire. */
export interface ListParameters {
  readonly fields?: string | undefined
  readonly filter?: string | undefined
  readonly after_id?: number | undefined
  readonly max_id?: number | undefined
  readonly page?: number | undefined
  readonly limit?: number | undefined
}

/** A list by GET; one too long for a URL by QUERY, with the same parameters in the body. */
export function listCall(
  path: string,
  parameters: ListParameters,
  accept: string,
  { signal, timeoutMs }: CallOptions,
): Call {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  )
  const query = given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  const rest = { parameters: Object.fromEntries(given), signal, timeoutMs }
  const url = query === '' ? path : `${path}?${query}`
  if (url.length <= limits.urlBytesMax) return { ...rest, method: 'GET', path: url, headers: { accept } }
  const headers = { accept, 'content-type': 'application/x-www-form-urlencoded' }
  return { ...rest, method: 'QUERY', path, body: query, headers }
}
