import type { FastifyRequest } from 'fastify'
import { containsKey, containsKeyMessage } from '../../accounts/key-format.ts'
import { type Fault, invalid } from '../../errors/errors.ts'
import { excerpt, type Faults } from '../../errors/faults.ts'
import { isJsonObject } from '../../writes/flat-json.ts'
import { JsonNumber } from '../../writes/json-number.ts'
import { acceptedBody, contentTypeFailure } from './content-type.ts'
import { bodyOf } from './raw-request.ts'

/** How a JSON body is parsed. */
export interface BodyFormat {
  /** For error messages. */
  readonly example: string
  /** Default: `JSON.parse`. */
  readonly parse?: (text: string) => unknown
}

/** The members of a JSON body, and texts for its error messages. */
export interface BodyShape extends BodyFormat {
  /** Which members the request has, for the message about an unknown one: "A key is created from name, scopes and expires_at". */
  readonly what: string
  readonly members: readonly string[]
}

export type JsonBody = Readonly<Record<string, unknown>>

/** Parses a JSON object. Rejects duplicate members. */
export function jsonBody(request: FastifyRequest, format: BodyFormat): JsonBody {
  if (acceptedBody(request) === undefined)
    throw contentTypeFailure(request.method, request.headers['content-type'])
  return jsonObject(bodyOf(request), format)
}

/** Adds a fault for each member that the shape does not have. */
export function addUnknownMembers(body: object, { what, members }: BodyShape, faults: Faults): void {
  for (const member of Object.keys(body)) {
    if (members.includes(member)) continue
    faults.add(() => ({
      pointer: pointerTo(member),
      code: 'member_unknown',
      message: `"${excerpt(member)}" is not a member of this request. ${what}.`,
      expected: members,
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
