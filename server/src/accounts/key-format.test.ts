import { describe, expect, test } from 'vitest'
import { containsKey, generateKey, hashOfKey, isKeyId, newKeyId, withoutKeys } from './key-format.ts'

// The checksums and hashes were computed with Python's zlib and hashlib.
const zeros = 'qm_0000000000000000000000000000003hHbSt'
const letters = 'qm_ABCDEFGHIJKLMNOPQRSTUVWXYZabcd0TCG3b'
const paddedChecksum = 'qm_000000000000000000000000004478000LzB'

describe('a key', () => {
  test('is qm_, 30 random and 6 checksum characters', () => {
    expect(generateKey()).toMatch(/^qm_[0-9A-Za-z]{36}$/)
  })

  test('is different each time, and valid', () => {
    const keys = new Set(Array.from({ length: 1000 }, generateKey))
    expect(keys.size).toBe(1000)
    for (const key of keys) expect(hashOfKey(key)).toHaveLength(64)
  })

  test('uses all 62 characters about equally often', () => {
    const counts = new Map<string, number>()
    for (let i = 0; i < 2000; i++) {
      for (const c of generateKey().slice(3, 33)) counts.set(c, (counts.get(c) ?? 0) + 1)
    }
    expect(counts.size).toBe(62)
    // 60,000 characters: 968 of each are expected, with a standard deviation of 31; six of those on either side.
    for (const count of counts.values()) {
      expect(count).toBeGreaterThan(780)
      expect(count).toBeLessThan(1160)
    }
  })

  test('is hashed by SHA-256, with prefix and checksum', () => {
    expect(hashOfKey(zeros)).toBe('618c5ba9c57a5a98a5429d484df17c367997e15abc8633fc33efec4322dfeb70')
    expect(hashOfKey(letters)).toBe('23a6321997e1da3966c6fe9c6cf9e2b77cab5e60ad5ce7e7146ea3a66b317bc3')
  })

  test('has a checksum with leading zeros', () => {
    expect(hashOfKey(paddedChecksum)).toBeDefined()
  })

  test.each([
    ['nothing', ''],
    ['no prefix', zeros.slice(3)],
    ['another prefix', `QM_${zeros.slice(3)}`],
    ['a character too few', zeros.slice(0, -1)],
    ['a character too many', `${zeros}0`],
    ['a wrong checksum', `${zeros.slice(0, -1)}u`],
    ['two characters exchanged', 'qm_BACDEFGHIJKLMNOPQRSTUVWXYZabcd0TCG3b'],
    ['a character that is not base62', `qm_-${zeros.slice(4)}`],
    ['a space around it', ` ${zeros}`],
    ['a line break after it', `${zeros}\n`],
  ])('with %s is not valid', (_fault, text) => {
    expect(hashOfKey(text)).toBeUndefined()
  })
})

test('a key id has 8 base62 characters', () => {
  expect(newKeyId()).toMatch(/^[0-9A-Za-z]{8}$/)
})

test('redacts keys in a text, and nothing else', () => {
  const key = generateKey()
  expect(withoutKeys(`name=${key}&x=qm_1 and ${key}`)).toBe('name=qm_…&x=qm_1 and qm_…')
  expect(withoutKeys(key.slice(0, 20))).toBe('qm_…')
  expect(withoutKeys('qm_')).toBe('qm_')
  expect(withoutKeys('no key')).toBe('no key')
})

describe('a key in a text', () => {
  const key = generateKey()

  test.each([
    ['alone', key],
    ['in a sentence', `my client (${key}) 1.0`],
    ['twice', `${key}${key}`],
    ['behind its own prefix', `qm_qm_${key}`],
    ['with more behind it', `${key}abc`],
  ])('%s is found', (_, text) => {
    expect(containsKey(text)).toBe(true)
  })

  test.each([
    ['nothing', ''],
    ['a prefix', 'qm_'],
    ['a part of it', key.slice(0, -1)],
    ['a wrong checksum', `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`],
    ['another name with the prefix', 'qm_import_of_2026_for_the_web_shop_in_Hamburg'],
  ])('%s is not recognized as a key', (_, text) => {
    expect(containsKey(text)).toBe(false)
  })
})

test.each([
  ['Pau4Vj6e', true],
  ['Pau4\0Vj6', false],
  ['Pau4Vj6', false],
  ['Pau4Vj6ee', false],
  ['Pau4Vj6-', false],
  ['', false],
])('%j is a key id: %s', (text, expected) => {
  expect(isKeyId(text)).toBe(expected)
})
