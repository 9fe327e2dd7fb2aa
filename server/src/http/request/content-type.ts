import type { FastifyRequest } from 'fastify'
import { Failure, invalid } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'
import { routeOf } from '../plugins/request-context.ts'

/** The media type of a QUERY body. */
export const formMediaType = 'application/x-www-form-urlencoded'

export const mergePatchMediaType = 'application/merge-patch+json'

/** Every media type that the body of some route has. `verification/src/guard/inputs/` has hostile bodies of each. */
export type BodyType =
  | 'application/json'
  | typeof mergePatchMediaType
  | 'application/x-ndjson'
  | 'text/csv'
  | typeof formMediaType

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The media types of a body that the route accepts: all others are rejected. Every route with POST, PATCH or QUERY has it. */
    readonly bodies?: readonly BodyType[]
  }
}

/** A parsed `Content-Type`. */
export interface MediaType {
  /** In lower case: `application/json`. */
  readonly type: string
  /** Whether it has a charset other than UTF-8. */
  readonly hasOtherCharset: boolean
  /** The others, with names in lower case. */
  readonly parameters: ReadonlyMap<string, string>
}

const token = /[\w!#$%&'*+.^`|~-]+/y
const space = /[ \t]*/y
const quotedText = /"((?:[^"\\]|\\.)*)"/y

/** Parses a Content-Type (RFC 9110, 8.3.1). Undefined if it is missing or malformed. */
export function mediaTypeOf(header: string | undefined): MediaType | undefined {
  if (header === undefined || header.length > limits.contentTypeCharactersMax) return undefined
  const text = new Scanner(header)
  text.read(space)
  const type = text.read(token)
  const subtype = text.read('/') && text.read(token)
  if (type === undefined || subtype === undefined) return undefined
  let charset: string | undefined
  const parameters = new Map<string, string>()
  for (text.read(space); !text.isAtEnd; text.read(space)) {
    if (text.read(';') === undefined) return undefined
    text.read(space)
    // RFC 9110, 5.6.6: a parameter may be empty, as in `;;`.
    const name = text.read(token)
    if (name === undefined) continue
    const value = text.read('=') && (text.read(token) ?? text.read(quotedText))
    if (value === undefined) return undefined
    if (name.toLowerCase() !== 'charset') {
      parameters.set(name.toLowerCase(), value)
      continue
    }
    if (charset !== undefined) return undefined
    charset = value.toLowerCase()
  }
  const hasOtherCharset = charset !== undefined && charset !== 'utf-8' && charset !== 'utf8'
  return { type: `${type}/${subtype}`.toLowerCase(), hasOtherCharset, parameters }
}

/** The media type of the body, if the route accepts it and it is UTF-8. */
export function acceptedBody(request: FastifyRequest): (MediaType & { readonly type: BodyType }) | undefined {
  const media = mediaTypeOf(request.headers['content-type'])
  if (media === undefined || media.hasOtherCharset) return undefined
  const type = routeOf(request).config.bodies?.find((accepted) => accepted === media.type)
  return type === undefined ? undefined : { ...media, type }
}

class Scanner {
  readonly #text: string
  #position = 0

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#text.length
  }

  /** Consumes and returns a match at the current position. Without a match returns undefined and consumes nothing. */
  read(pattern: RegExp | string): string | undefined {
    if (typeof pattern === 'string') {
      if (!this.#text.startsWith(pattern, this.#position)) return undefined
      this.#position += pattern.length
      return pattern
    }
    pattern.lastIndex = this.#position
    const match = pattern.exec(this.#text)
    if (match === null) return undefined
    this.#position = pattern.lastIndex
    return match[1]?.replaceAll(/\\(.)/g, '$1') ?? match[0]
  }
}

const utf8Only = 'The body must be UTF-8: omit the charset, or send charset=utf-8.'

/** The error for a missing or wrong Content-Type. The published API has 400 for a create and 415 for QUERY. */
export function contentTypeFailure(method: string, header?: string): Failure {
  const hasOtherCharset = mediaTypeOf(header)?.hasOtherCharset ?? false
  if (method === 'QUERY') {
    return new Failure(
      'media_type_unsupported',
      hasOtherCharset
        ? utf8Only
        : `Send the body of a QUERY as ${formMediaType}: filter=…&limit=…, as in a URL.`,
    )
  }
  return invalid(
    {
      parameter: 'Content-Type',
      code: 'content_type_invalid',
      message: hasOtherCharset ? utf8Only : 'Send JSON with Content-Type: application/json.',
      expected: ['application/json'],
    },
    'body_invalid',
  )
}
