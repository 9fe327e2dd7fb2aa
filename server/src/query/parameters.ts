import type { Fault } from '../errors/errors.ts'
import { excerpt, type Faults } from '../errors/faults.ts'
import { limits } from '../limits/limits.ts'

/** Parameters by name, decoded. */
export type Parameters = ReadonlyMap<string, string>

/**
 * Splits a raw query string (or form body) into the parameters in `names`.
 *
 * A filter may contain an unencoded `&`: a segment that directly follows the filter and names no parameter belongs to it.
 * So `filter=list_price>10&active=true&limit=5` means the same as its percent-encoded form. Any other unknown
 * segment is a fault: none is ignored.
 */
export function parseParameters(raw: string, names: readonly string[], faults: Faults): Parameters {
  const encoded = new Map<string, string>()
  // Joined once: a filter in a body may have 32,000 segments.
  const continued: string[] = []
  let inFilter = false
  for (const segment of raw.split('&')) {
    if (segment === '') continue
    const equals = segment.indexOf('=')
    const name = equals < 0 ? segment : segment.slice(0, equals)
    if (names.includes(name)) {
      if (encoded.has(name)) faults.add(() => repeated(name))
      else encoded.set(name, equals < 0 ? '' : segment.slice(equals + 1))
      inFilter = name === 'filter'
    } else if (inFilter) {
      continued.push(segment)
    } else {
      faults.add(() => unknown(segment, name, names, encoded.has('filter')))
    }
  }
  const filter = encoded.get('filter')
  if (filter !== undefined && continued.length > 0) encoded.set('filter', [filter, ...continued].join('&'))
  const decoded = new Map<string, string>()
  for (const [name, text] of encoded) {
    const plain = decode(text)
    if (plain === undefined) faults.add(() => undecodable(name, text))
    else decoded.set(name, plain)
  }
  return decoded
}

/** Percent-decoded once, with `+` as a space; undefined if the encoding is invalid. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/**
 * Percent-decoded for display. If the encoding is invalid, only its ASCII is decoded: otherwise an encoded API key would
 * not be recognized, and redacted, in the log.
 */
export function decodeForDisplay(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text.replaceAll(/%[0-7][\da-f]/gi, (encoded) => decodeURIComponent(encoded))
  }
}

/** Truncates a percent-encoded text, without an incomplete character at its end, which could not be decoded. */
export function truncateEncoded(encoded: string, charactersMax: number): string {
  if (encoded.length <= charactersMax) return encoded
  const beginning = encoded.slice(0, charactersMax)
  return beginning.replace(/(?:%[c-f][\da-f])?(?:%[89ab][\da-f]){0,3}(?:%[\da-f]?)?$/i, '')
}

/** The decoded excerpt for an error message. Decodes no more than can be shown: three escapes for each character. */
function echo(encoded: string): string {
  const beginning = truncateEncoded(encoded, limits.errorEchoCharactersMax * 10)
  return excerpt(decode(beginning) ?? decodeForDisplay(beginning))
}

function repeated(name: string): Fault {
  return {
    parameter: name,
    code: 'parameter_repeated',
    message: `The parameter ${name} occurs more than once.`,
  }
}

function unknown(segment: string, name: string, names: readonly string[], afterFilter: boolean): Fault {
  const advice = afterFilter
    ? ' If it belongs to the filter, put it directly after the filter, or write its "&" as %26.'
    : ''
  return {
    parameter: echo(name),
    code: 'parameter_unknown',
    message: `"${echo(segment)}" is not a parameter of this request. ${acceptedParameters(names)}${advice}`,
    expected: names,
  }
}

function undecodable(name: string, text: string): Fault {
  const bad = /%(?![0-9a-f]{2})/i.exec(text)
  const message =
    bad === null
      ? `The percent-encoded bytes of the parameter ${name} are not valid UTF-8.`
      : `The parameter ${name} has a "%" that is not followed by two hexadecimal digits. Write a percent sign as %25.`
  return { parameter: name, code: 'parameter_encoding', message }
}

function acceptedParameters(names: readonly string[]): string {
  if (names.length === 0) return 'It has no query parameters.'
  if (names.length === 1) return `Its only parameter is ${names[0]}.`
  return `Its parameters are ${names.slice(0, -1).join(', ')} and ${names.at(-1)}.`
}
