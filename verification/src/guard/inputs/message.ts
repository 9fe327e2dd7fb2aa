import { limits } from '../../../../server/src/limits/limits.ts'

/** The client that sends the request, with a key or without one. */
export interface Sender {
  readonly name: string
  readonly host: string
  readonly key: string | undefined
}

/** Less than the limits, to leave space for the rest of the URL and of the headers. */
export const urlCapacity = limits.urlBytesMax - 300
export const headerCapacity = limits.headerBytesMax - 700

export type Header = readonly [string, string]

/** The bytes of a request: HTTP clients refuse to send invalid ones. */
export function message(
  method: string,
  target: string,
  { host, key }: Sender,
  headers: readonly Header[] = [],
  body?: Buffer,
): Buffer {
  const named = new Set(headers.map(([name]) => name))
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(named.has('Host') ? [] : [`Host: ${host}`]),
    ...(key === undefined || named.has('Authorization') ? [] : [`Authorization: Bearer ${key}`]),
    'Connection: close',
    ...(body === undefined || named.has('Transfer-Encoding') ? [] : [`Content-Length: ${body.length}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ]
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  return body === undefined ? head : Buffer.concat([head, body])
}

/** Percent-encodes what a request line cannot contain. */
export function urlText(text: string): string {
  return text
    .replaceAll(/[^\x21-\x7e]+/gu, (part) => encodeURIComponent(part.toWellFormed()))
    .replaceAll(' ', '%20')
}

export function headerText(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, ' ')
}

/** A value of a parameter that contains any text. */
export function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('&', '%26').replaceAll('+', '%2B').replaceAll('#', '%23')
}

/** Truncates to the longest allowed URL, without an incomplete escape at the end. */
export function truncated(target: string): string {
  return target.length <= limits.urlBytesMax
    ? target
    : target.slice(0, limits.urlBytesMax).replace(/%.?$/, '')
}
