import type { FastifyRequest } from 'fastify'
import { containsKey, containsKeyMessage } from '../accounts/key-format.ts'
import { type Failure, type Fault, invalid } from '../errors.ts'
import { excerpt, type Faults } from '../faults.ts'
import { contentTypeFailure, mediaTypeOf } from './media-type.ts'
import { bodyOf } from './url.ts'

/** What a JSON body is to look like: its members, and an example for who sends something else. */
export interface BodyShape {
  /** What the body makes, as a sentence begins: "A partner is created from its name only". */
  readonly what: string
  readonly members: readonly string[]
  readonly example: string
}

/** The members of a body that is a JSON object with no others and none twice. */
export function jsonBody(request: FastifyRequest, shape: BodyShape): Readonly<Record<string, unknown>> {
  const type = mediaTypeOf(request.headers['content-type'])
  if (type?.type !== 'application/json' || type.isForeign) throw contentTypeFailure(request.method, type)
  return jsonObject(bodyOf(request), shape)
}

export function badBody(fault: Fault): Failure {
  return invalid(fault, 'body_invalid')
}

/** Members that the shape does not have. */
export function addUnknownMembers(body: object, { what, members }: BodyShape, faults: Faults): void {
  for (const member of Object.keys(body)) {
    if (members.includes(member)) continue
    faults.add(() => ({
      pointer: pointerTo(member),
      code: 'member_unknown',
      message: `${what}; "${excerpt(member)}" is not taken.`,
      expected: members,
    }))
  }
}

/** A text that people read: trimmed, not empty, of so many characters, none of them a control character. */
export function textMember(
  body: Readonly<Record<string, unknown>>,
  member: string,
  charactersMax: number,
  faults: Faults,
): string {
  const fault = (code: Fault['code'], message: string) =>
    faults.add(() => ({
      pointer: pointerTo(member),
      code,
      message,
      expected: [`a text of 1 to ${charactersMax} characters`],
    }))
  const given = body[member]
  if (given === undefined) {
    fault('member_required', `The ${member} is missing.`)
    return ''
  }
  if (typeof given !== 'string') {
    fault('member_invalid', `The ${member} must be a string; it is ${kindOf(given)}.`)
    return ''
  }
  const text = given.trim()
  const characters = Array.from(text).length
  if (characters < 1) fault('member_invalid', `The ${member} is empty.`)
  else if (characters > charactersMax) {
    fault('member_invalid', `The ${member} has ${characters} characters; at most ${charactersMax} are taken.`)
  } else if (containsKey(text)) fault('member_invalid', `The ${member} ${containsKeyMessage}`)
  // Only now: no regular expression may be matched against a key.
  else if (/\p{Cc}/u.test(text)) fault('member_invalid', `The ${member} has a control character in it.`)
  else if (!text.isWellFormed()) fault('member_invalid', `The ${member} has half of a surrogate pair in it.`)
  return text
}

export function kindOf(given: unknown): string {
  if (given === null) return 'null'
  return Array.isArray(given) ? 'a list' : typeof given === 'object' ? 'a JSON object' : `a ${typeof given}`
}

function jsonObject(bytes: Buffer, { example }: BodyShape): Record<string, unknown> {
  const expected = [`a JSON object such as ${example}`]
  let text: string
  let parsed: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    parsed = JSON.parse(text)
  } catch (error) {
    const message =
      bytes.length === 0
        ? 'The body is empty; it must be a JSON object.'
        : `The body is not JSON${whereIn(error)}.`
    throw badBody({ pointer: '', code: 'json_invalid', message, expected })
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    const message = `The body must be a JSON object; it is ${kindOf(parsed)}.`
    throw badBody({ pointer: '', code: 'json_invalid', message, expected })
  }
  // JSON.parse keeps the last of two; which one was meant is not ours to guess.
  const repeated = repeatedMember(text)
  if (repeated !== undefined) {
    const message = `The ${excerpt(repeated)} is given more than once.`
    throw badBody({ pointer: pointerTo(repeated), code: 'member_invalid', message })
  }
  return { ...parsed }
}

/** The first member of the object that stands in it twice. The text is known to be a JSON object. */
function repeatedMember(text: string): string | undefined {
  const seen = new Set<string>()
  let depth = 0
  let last = ''
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '"') {
      const start = at
      for (at++; text[at] !== '"'; at++) if (text[at] === '\\') at++
      if (depth === 1) last = text.slice(start, at + 1)
    } else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    else if (char === ':' && depth === 1) {
      const member = String(JSON.parse(last))
      if (seen.has(member)) return member
      seen.add(member)
    }
  }
  return undefined
}

function pointerTo(member: string): string {
  return `/${excerpt(member).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function whereIn(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  if (message.startsWith('Unexpected end')) return ': it ends too early'
  const position = /at position (\d+)/.exec(message)?.[1]
  return position === undefined ? '' : `: it goes wrong at character ${position}`
}
