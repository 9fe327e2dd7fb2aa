import type { FastifyRequest } from 'fastify'
import { containsKey, containsKeyMessage } from '../../accounts/key-format.ts'
import { Failure, type Fault, invalid } from '../../errors/errors.ts'
import { excerpt, type Faults } from '../../errors/faults.ts'
import { limits } from '../../limits/limits.ts'
import { isJsonObject, JsonNumber } from '../../writes/exact-json.ts'
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
    /** The error for another type. Default: 415. The published API has 400 for a create. */
    readonly wrongBodyType?: 'body_invalid'
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

/** The error for a missing or wrong Content-Type. `respond.ts` adds the header that names the right ones. */
export function contentTypeFailure(request: FastifyRequest, why?: string): Failure {
  const { bodies: expected = [], wrongBodyType = 'media_type_unsupported' } = routeOf(request).config
  const message = why ?? typeMessage(request, expected)
  const fault: Fault = { parameter: 'Content-Type', code: 'content_type_invalid', message }
  if (expected.length === 0) return invalid(fault, 'body_invalid')
  return new Failure(wrongBodyType, message, [{ ...fault, expected }])
}

function typeMessage({ method, headers }: FastifyRequest, expected: readonly string[]): string {
  if (expected.length === 0)
    return 'This request needs no Content-Type, and the one that it has is malformed.'
  if (mediaTypeOf(headers['content-type'])?.hasOtherCharset === true)
    return 'The body must be UTF-8: omit the charset, or send charset=utf-8.'
  if (method === 'QUERY')
    return `Send the body of a QUERY as ${formMediaType}: filter=…&limit=…, as in a URL.`
  return `Send the body with a Content-Type that this path takes: ${expected.join(', ')}.`
}

export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
}

/** `what`: the request, as in "A revocation". */
export function rejectBody(request: FastifyRequest, what: string): void {
  if (bodyOf(request).length === 0) return
  const message = `${what} must not have a body.`
  throw invalid({ pointer: '', code: 'json_invalid', message }, 'body_invalid')
}

/** How a JSON body is parsed. */
export interface BodyFormat {
  /** For error messages. */
  readonly example: string
  /** Default: `JSON.parse`. */
  readonly parse?: (text: string) => unknown
}

/** A JSON body: its schema in the OpenAPI document, and texts for its error messages. */
export interface BodyShape extends BodyFormat {
  /** Of the schema. */
  readonly name: string
  readonly title: string
  /** The schema of each member. */
  readonly members: Readonly<Record<string, object>>
  readonly required?: readonly string[]
  /** Which members the request has, for the message about an unknown one: "A key is created from name, scopes and expires_at". */
  readonly what: string
}

export type JsonBody = Readonly<Record<string, unknown>>

/** Parses a JSON object. Rejects duplicate members. */
export function jsonBody(request: FastifyRequest, format: BodyFormat): JsonBody {
  if (acceptedBody(request) === undefined) throw contentTypeFailure(request)
  return jsonObject(bodyOf(request), format)
}

/** Adds a fault for each member that the shape does not have. */
export function addUnknownMembers(body: object, { what, members }: BodyShape, faults: Faults): void {
  for (const member of Object.keys(body)) {
    if (Object.hasOwn(members, member)) continue
    faults.add(() => ({
      pointer: pointerTo(member),
      code: 'member_unknown',
      message: `"${excerpt(member)}" is not a member of this request. ${what}.`,
      expected: Object.keys(members),
    }))
  }
}

/** Returns a trimmed text of 1 to `charactersMax` characters without control characters, or adds a fault. */
export function textMember(body: JsonBody, member: string, charactersMax: number, faults: Faults): string {
  const fault = (code: Fault['code'], message: string) =>
    faults.add(() => ({
      pointer: pointerTo(member),
      code,
      message,
      expected: [`a text of 1 to ${charactersMax} characters`],
    }))
  const value = body[member]
  if (value === undefined) {
    fault('member_required', `The ${member} is missing.`)
    return ''
  }
  if (typeof value !== 'string') {
    fault('member_invalid', `The ${member} must be a string; it is ${kindOf(value)}.`)
    return ''
  }
  const text = value.trim()
  const characters = Array.from(text).length
  if (characters < 1) fault('member_invalid', `The ${member} is empty.`)
  else if (characters > charactersMax) {
    fault('member_invalid', `The ${member} has ${characters} characters; the maximum is ${charactersMax}.`)
  } else if (containsKey(text)) fault('member_invalid', `The ${member} ${containsKeyMessage}`)
  // After the test for a key: a regular expression would retain it.
  else if (/\p{Cc}/u.test(text)) fault('member_invalid', `The ${member} contains a control character.`)
  else if (!text.isWellFormed()) fault('member_invalid', `The ${member} contains an unpaired surrogate.`)
  return text
}

/** The JSON type of a value, for a message. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (value instanceof JsonNumber) return 'a number'
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'a JSON object' : `a ${typeof value}`
}

function jsonObject(bytes: Buffer, { example, parse = JSON.parse }: BodyFormat): JsonBody {
  const expected = [`a JSON object such as ${example}`]
  let text: string
  let parsed: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    parsed = parse(text)
  } catch (error) {
    const message =
      bytes.length === 0
        ? 'The body is empty; it must be a JSON object.'
        : `The body is not JSON${positionIn(error)}.`
    throw invalid({ pointer: '', code: 'json_invalid', message, expected }, 'body_invalid')
  }
  if (!isJsonObject(parsed)) {
    const message = `The body must be a JSON object; it is ${kindOf(parsed)}.`
    throw invalid({ pointer: '', code: 'json_invalid', message, expected }, 'body_invalid')
  }
  // JSON.parse silently uses the last of two members with the same name.
  const repeated = repeatedMember(text)
  if (repeated !== undefined) {
    const message = `The member "${excerpt(repeated)}" occurs more than once.`
    throw invalid({ pointer: pointerTo(repeated), code: 'member_invalid', message }, 'body_invalid')
  }
  return { ...parsed }
}

/** The first duplicate member name. The text must be a valid JSON object. */
function repeatedMember(text: string): string | undefined {
  const seen = new Set<string>()
  let depth = 0
  let lastString = ''
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '"') {
      const start = at
      for (at++; text[at] !== '"'; at++) if (text[at] === '\\') at++
      if (depth === 1) lastString = text.slice(start, at + 1)
    } else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    else if (char === ':' && depth === 1) {
      const member = String(JSON.parse(lastString))
      if (seen.has(member)) return member
      seen.add(member)
    }
  }
  return undefined
}

export function pointerTo(member: string): string {
  return `/${excerpt(member).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function positionIn(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  if (message.startsWith('Unexpected end')) return ': it is incomplete'
  const position = /at position (\d+)/.exec(message)?.[1]
  return position === undefined ? '' : `: syntax error at character ${position}`
}
