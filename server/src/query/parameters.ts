import type { Fault } from '../errors.ts'
import { excerpt, type Faults } from '../faults.ts'
import { limits } from '../limits.ts'

/** Parameters by name, decoded. */
export type Parameters = ReadonlyMap<string, string>

/**
 * Splits a raw query string (or form body) into the parameters in `names`.
 *
 * A filter may hold `&` unencoded: a segment that names no parameter and directly follows the filter belongs to it.
 * So `filter=list_price>10&active=true&limit=5` means the same as its percent-encoded form. Any other segment that is
 * not understood is a fault; nothing is left out silently.
 */
export function parseParameters(raw: string, names: readonly string[], faults: Faults): Parameters {
  const encoded = new Map<string, string>()
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
      encoded.set('filter', `${encoded.get('filter')}&${segment}`)
    } else {
      faults.add(() => unknown(segment, name, names, encoded.has('filter')))
    }
  }
  const decoded = new Map<string, string>()
  for (const [name, text] of encoded) {
    const plain = decode(text)
    if (plain === undefined) faults.add(() => undecodable(name, text))
    else decoded.set(name, plain)
  }
  return decoded
}

/** Percent-decoded once, `+` for a space; undefined where that cannot be done. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/** As people read it. Where not all of it can be decoded, the ASCII in it: a key would be hidden from the log otherwise. */
export function decodeForDisplay(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text.replaceAll(/%[0-7][\da-f]/gi, (encoded) => decodeURIComponent(encoded))
  }
}

/** The beginning of a percent-encoded text, without half a character at its end: that could not be decoded. */
export function truncateEncoded(encoded: string, charactersMax: number): string {
  if (encoded.length <= charactersMax) return encoded
  const beginning = encoded.slice(0, charactersMax)
  return beginning.replace(/(?:%[c-f][\da-f])?(?:%[89ab][\da-f]){0,3}(?:%[\da-f]?)?$/i, '')
}

/** As an error repeats it. Only so much is decoded as can be shown, each character written as three escapes. */
function echo(encoded: string): string {
  const beginning = truncateEncoded(encoded, limits.errorEchoCharactersMax * 10)
  return excerpt(decode(beginning) ?? decodeForDisplay(beginning))
}

function repeated(name: string): Fault {
  return {
    parameter: name,
    code: 'parameter_repeated',
    message: `The parameter ${name} is given more than once.`,
  }
}

function unknown(segment: string, name: string, names: readonly string[], afterFilter: boolean): Fault {
  const takes =
    names.length === 0 ? 'This request takes no query parameters' : `This request takes ${listed(names)}`
  const belongs = afterFilter
    ? ' If it belongs to the filter, let it follow the filter directly, or write its "&" as %26.'
    : ''
  return {
    parameter: echo(name),
    code: 'parameter_unknown',
    message: `"${echo(segment)}" is not a parameter of this request. ${takes}.${belongs}`,
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

function listed(names: readonly string[]): string {
  return names.length === 1 ? `only ${names[0]}` : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
