import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

export const scopes = [
  'product:read',
  'partner:read',
  'partner:create',
  'company:read',
  'account:manage',
] as const

export type Scope = (typeof scopes)[number]

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomCharacters = 30
const checksumCharacters = 6
const prefix = 'qm_'
const keyCharacters = prefix.length + randomCharacters + checksumCharacters

/** `qm_`, 178 random bits, and a checksum by which a secret scanner tells a key from a look-alike. */
export function generateKey(): string {
  const body = `${prefix}${randomBase62(randomCharacters)}`
  return body + checksumOf(body)
}

/**
 * What the store knows of a key: SHA-256 of the whole, in hexadecimal. Undefined where the text cannot be a key of
 * ours, so that a mistyped or made-up one never costs the database a question.
 */
export function hashOfKey(text: string): string | undefined {
  return isKey(text) ? hash('sha256', text, 'hex') : undefined
}

/** By its form and its checksum: whether it is a key of anybody is for the database to say. */
function isKey(text: string): boolean {
  if (text.length !== keyCharacters || !text.startsWith(prefix)) return false
  if (!areBase62(text, prefix.length)) return false
  return checksumOf(text.slice(0, -checksumCharacters)) === text.slice(-checksumCharacters)
}

/** Without a regular expression: JavaScript remembers what the last one was matched against, here a secret. */
function areBase62(text: string, from: number): boolean {
  for (let i = from; i < text.length; i++) if (!isBase62(text.charCodeAt(i))) return false
  return true
}

function isBase62(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
}

/**
 * Whether a key of ours is anywhere in the text: somebody pasted it into the wrong place. By its checksum, so that nothing else
 * is taken for one.
 */
export function holdsKey(text: string): boolean {
  for (let at = text.indexOf(prefix); at >= 0; at = text.indexOf(prefix, at + 1)) {
    if (isKey(text.slice(at, at + keyCharacters))) return true
  }
  return false
}

/** What is said where one is found, as the rest of a sentence. */
export const hasKey =
  'has an API key in it. It would be stored as it is: leave it out, and revoke the key if others may have seen it.'

/** The text with whatever looks like a key of ours made unreadable, for logs of what callers sent. */
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

/** Names a key within its account, in lists and in revocations; it is no secret. */
export function newKeyId(): string {
  return randomBase62(idCharacters)
}

/** No key has an id of any other form, so that it need not be looked for. */
export function isKeyId(text: string): boolean {
  return text.length === idCharacters && areBase62(text, 0)
}

function randomBase62(length: number): string {
  return Array.from({ length }, () => base62.charAt(randomInt(base62.length))).join('')
}

/** 62^6 exceeds 2^32, so that six digits hold every CRC-32. */
function checksumOf(body: string): string {
  let rest = crc32(body)
  let digits = ''
  while (digits.length < checksumCharacters) {
    digits = base62.charAt(rest % base62.length) + digits
    rest = Math.floor(rest / base62.length)
  }
  return digits
}
