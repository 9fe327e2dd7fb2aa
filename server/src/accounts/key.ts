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
const pattern = new RegExp(`^qm_[0-9A-Za-z]{${randomCharacters + checksumCharacters}}$`)

/** `qm_`, 178 random bits, and a checksum by which a secret scanner tells a key from a look-alike. */
export function generateKey(): string {
  const body = `qm_${randomBase62(randomCharacters)}`
  return body + checksumOf(body)
}

/**
 * What the store knows of a key: SHA-256 of the whole. Undefined where the text cannot be a key of ours, so that a
 * mistyped or made-up one never costs the database a question.
 */
export function hashOfKey(text: string): Buffer | undefined {
  if (!pattern.test(text)) return undefined
  if (checksumOf(text.slice(0, -checksumCharacters)) !== text.slice(-checksumCharacters)) return undefined
  return hash('sha256', text, 'buffer')
}

/** Names a key within its account, in lists and in revocations; it is no secret. */
export function newKeyId(): string {
  return randomBase62(8)
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
