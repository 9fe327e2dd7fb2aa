import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

export const scopes = [
  'product:read',
  'product:write',
  'partner:read',
  'partner:create',
  'partner:write',
  'partner:erase',
  'company:read',
  'company:write',
  'account:manage',
] as const

export type Scope = (typeof scopes)[number]

/** Every set of scopes, by the bits of its members: all accepted keys share these 512. */
const scopeSets: readonly ReadonlySet<Scope>[] = Array.from(
  { length: 2 ** scopes.length },
  (_, bits) => new Set(scopes.filter((_scope, i) => (bits & (1 << i)) !== 0)),
)

export function scopeSet(names: readonly string[]): ReadonlySet<Scope> {
  const bits = scopes.reduce((sum, scope, i) => (names.includes(scope) ? sum | (1 << i) : sum), 0)
  return scopeSets[bits] ?? new Set()
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomCharacters = 30
const checksumCharacters = 6
const prefix = 'qm_'
const keyCharacters = prefix.length + randomCharacters + checksumCharacters

/** `qm_`, 178 random bits, and a checksum by which a secret scanner can recognize a key. */
export function generateKey(): string {
  const body = `${prefix}${randomBase62(randomCharacters)}`
  return body + checksumOf(body)
}

/** Of an operator: a key with a recognizable beginning, so that everything that recognizes and redacts keys does so with tokens. */
const tokenPrefix = `${prefix}op`

export function generateOperatorToken(): string {
  const body = `${tokenPrefix}${randomBase62(prefix.length + randomCharacters - tokenPrefix.length)}`
  return body + checksumOf(body)
}

/** As `hashOfKey`. */
export function hashOfOperatorToken(text: string): string | undefined {
  return text.startsWith(tokenPrefix) ? hashOfKey(text) : undefined
}

/**
 * The SHA-256 of a key in hexadecimal, which is what the database stores. Undefined if the text does not have the form of a
 * key, so that mistyped and invented keys cause no statement.
 */
export function hashOfKey(text: string): string | undefined {
  return isKey(text) ? hash('sha256', text, 'hex') : undefined
}

/** Checks the form and the checksum only, not whether the key exists. */
function isKey(text: string): boolean {
  if (text.length !== keyCharacters || !text.startsWith(prefix)) return false
  if (!areBase62(text, prefix.length)) return false
  return checksumOf(text.slice(0, -checksumCharacters)) === text.slice(-checksumCharacters)
}

/** No regular expression: JavaScript retains the subject of the last match (`RegExp.input`), here a secret. */
function areBase62(text: string, from: number): boolean {
  for (let i = from; i < text.length; i++) if (!isBase62(text.charCodeAt(i))) return false
  return true
}

function isBase62(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
}

/** Whether the text contains a key, pasted there by mistake. The checksum excludes texts that only look like one. */
export function containsKey(text: string): boolean {
  for (let at = text.indexOf(prefix); at >= 0; at = text.indexOf(prefix, at + 1)) {
    if (isKey(text.slice(at, at + keyCharacters))) return true
  }
  return false
}

/** The error if it does; follows a subject, as in "The name contains …". */
export const containsKeyMessage =
  'contains an API key, which would be stored in plain text. Remove it, and revoke the key if others may have seen it.'

/** Redacts everything that looks like a key, for logs of what clients sent. */
export function withoutKeys(text: string): string {
  let found = text.indexOf(prefix)
  if (found < 0) return text
  let safe = ''
  let from = 0
  for (; found >= 0; found = text.indexOf(prefix, from)) {
    let end = found + prefix.length
    while (end < text.length && isBase62(text.charCodeAt(end))) end++
    const isShort = end - found - prefix.length < checksumCharacters
    safe += `${text.slice(from, found)}${isShort ? text.slice(found, end) : `${prefix}…`}`
    from = end
  }
  return safe + text.slice(from)
}

const idCharacters = 8

/** Identifies a key within its account. It is not secret. */
export function newKeyId(): string {
  return randomBase62(idCharacters)
}

/** Whether the text has the form of a key id. If not, no key can have it, and no statement is needed. */
export function isKeyId(text: string): boolean {
  return text.length === idCharacters && areBase62(text, 0)
}

function randomBase62(length: number): string {
  return Array.from({ length }, () => base62.charAt(randomInt(base62.length))).join('')
}

/** CRC-32 in base 62. Six digits are enough, because 62^6 exceeds 2^32. */
function checksumOf(body: string): string {
  let rest = crc32(body)
  let digits = ''
  while (digits.length < checksumCharacters) {
    digits = base62.charAt(rest % base62.length) + digits
    rest = Math.floor(rest / base62.length)
  }
  return digits
}
