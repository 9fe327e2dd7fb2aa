import { limits } from './limits.ts'
import type { Call, CallOptions } from './sender.ts'

/** The query parameters of a list. */
export interface ListParameters {
  readonly fields?: string | undefined
  readonly filter?: string | undefined
  readonly search?: string | undefined
  readonly sort?: string | undefined
  readonly after_id?: number | undefined
  readonly max_id?: number | undefined
  readonly page?: number | undefined
  readonly limit?: number | undefined
  /** Only for changes. */
  readonly since?: string | undefined
  readonly wait?: number | undefined
  /** Only for summaries. */
  readonly group?: string | undefined
  readonly sum?: string | undefined
  readonly min?: string | undefined
  readonly max?: string | undefined
  readonly avg?: string | undefined
  /** Only for usage. */
  readonly per?: 'day' | 'minute' | undefined
}

/** A list as GET; if that URL would be too long, as QUERY with the same parameters in the body. */
export function listCall(
  path: string,
  parameters: ListParameters,
  accept: string,
  { signal, timeoutMs }: CallOptions,
): Call {
  const present = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  )
  const query = present.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  const rest = { parameters: Object.fromEntries(present), signal, timeoutMs }
  const url = query === '' ? path : `${path}?${query}`
  if (url.length <= limits.urlBytesMax) return { ...rest, method: 'GET', path: url, headers: { accept } }
  const headers = { accept, 'content-type': 'application/x-www-form-urlencoded' }
  return { ...rest, method: 'QUERY', path, body: query, headers }
}
