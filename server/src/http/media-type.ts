import { Failure, invalid } from '../errors.ts'
import { limits } from '../limits.ts'
import { formMediaType } from './problem.ts'

/** What the `Content-Type` of a body says. */
export interface MediaType {
  /** In lower case: `application/json`. */
  readonly type: string
  /** Whether the body is to be read as something else than UTF-8. */
  readonly isForeign: boolean
}

const token = /[\w!#$%&'*+.^`|~-]+/y
const space = /[ \t]*/y
const quotedText = /"((?:[^"\\]|\\.)*)"/y

/** RFC 9110, 8.3.1. Undefined where the header is missing or not well-formed. */
export function mediaTypeOf(header: string | undefined): MediaType | undefined {
  if (header === undefined || header.length > limits.contentTypeCharactersMax) return undefined
  const text = new Reader(header)
  text.read(space)
  const type = text.read(token)
  const subtype = text.read('/') && text.read(token)
  if (type === undefined || subtype === undefined) return undefined
  let charset: string | undefined
  for (text.read(space); !text.isAtEnd; text.read(space)) {
    if (text.read(';') === undefined) return undefined
    text.read(space)
    // RFC 9110, 5.6.6: there may be nothing between two semicolons.
    const name = text.read(token)
    if (name === undefined) continue
    const value = text.read('=') && (text.read(token) ?? text.read(quotedText))
    if (value === undefined) return undefined
    if (name.toLowerCase() !== 'charset') continue
    if (charset !== undefined) return undefined
    charset = value.toLowerCase()
  }
  const isForeign = charset !== undefined && charset !== 'utf-8' && charset !== 'utf8'
  return { type: `${type}/${subtype}`.toLowerCase(), isForeign }
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  /** What stands here, and then behind it; undefined, and nothing is read, where something else does. */
  read(what: RegExp | string): string | undefined {
    if (typeof what === 'string') {
      if (!this.#text.startsWith(what, this.#at)) return undefined
      this.#at += what.length
      return what
    }
    what.lastIndex = this.#at
    const match = what.exec(this.#text)
    if (match === null) return undefined
    this.#at = what.lastIndex
    return match[1]?.replaceAll(/\\(.)/g, '$1') ?? match[0]
  }
}

const utf8Only = 'The body is read as UTF-8: leave the charset out, or send charset=utf-8.'

/** What is wrong with a Content-Type: a create has told it as a 400 from the beginning, a QUERY as a 415. */
export function contentTypeFailure(method: string, { isForeign = false }: Partial<MediaType> = {}): Failure {
  if (method === 'QUERY') {
    return new Failure(
      'media_type_unsupported',
      isForeign ? utf8Only : `The body of a QUERY is ${formMediaType}: filter=…&limit=…, as in a URL.`,
    )
  }
  return invalid(
    {
      parameter: 'Content-Type',
      code: 'content_type_invalid',
      message: isForeign ? utf8Only : 'The body is JSON: send Content-Type: application/json.',
      expected: ['application/json'],
    },
    'body_invalid',
  )
}
