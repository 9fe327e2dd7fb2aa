import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeCursor, encodeCursor, type FeedIdentity, type FeedPosition, idMax } from './cursor.ts'

const feed: FeedIdentity = { accountId: '7', resource: 'product', filterKey: '' }
const position: FeedPosition = { lineage: -8_123_456_789_012_345_678n, version: 12n, id: 7n, base: 9n }

describe('a cursor', () => {
  it.each([
    position,
    { lineage: 0n, version: 0n, id: 0n, base: 0n },
    { lineage: 2n ** 63n - 1n, version: idMax, id: idMax, base: idMax },
    { lineage: -(2n ** 63n), version: 2n ** 53n, id: 1n, base: 3n },
  ])('is decoded as it was encoded: %o', (original) => {
    const text = encodeCursor(feed, original)
    expect(decodeCursor(feed, text)).toEqual(original)
    expect(text).toMatch(/^[\w-]+$/)
  })

  it('is rejected after any change of one character', () => {
    const text = encodeCursor(feed, position)
    for (let i = 0; i < text.length; i++) {
      const other = text[i] === 'A' ? 'B' : 'A'
      const changed = text.slice(0, i) + other + text.slice(i + 1)
      expect(decodeCursor(feed, changed), `at ${i}`).toMatchObject({ code: 'cursor_invalid' })
    }
  })

  it.each(['', 'x', 'NOW', '0', '12', ' ', 'a'.repeat(67), 'a'.repeat(5_000), '💥', '%00'])(
    'is not %j',
    (text) => expect(decodeCursor(feed, text)).toMatchObject({ code: 'cursor_invalid' }),
  )

  it('has no other spelling', () => {
    const text = encodeCursor(feed, position)
    for (const other of [`${text}=`, `${text} `, ` ${text}`, `${text}\n`, text.slice(0, -1), `${text}A`])
      expect(decodeCursor(feed, other), JSON.stringify(other)).toMatchObject({ code: 'cursor_invalid' })
  })

  it('of another format is rejected although its checksum is right', () => {
    const bytes = Buffer.from(encodeCursor(feed, position), 'base64url')
    bytes.writeUInt8(2, 0)
    bytes.writeUInt32BE(crc32(bytes.subarray(0, -4)), bytes.length - 4)
    expect(decodeCursor(feed, bytes.toString('base64url'))).toEqual({
      code: 'cursor_invalid',
      message: expect.stringContaining('another version'),
    })
  })

  it.each<[Partial<FeedIdentity>, string]>([
    [{ accountId: '8' }, 'another account'],
    [{ resource: 'partner' }, 'the resource partner, not of product'],
    [{ filterKey: 'active=true' }, 'another filter'],
  ])('of the feed %o is rejected with the reason', (other, reason) => {
    const text = encodeCursor({ ...feed, ...other }, position)
    expect(decodeCursor(feed, text)).toEqual({
      code: 'cursor_mismatch',
      message: expect.stringContaining(reason),
    })
    expect(decodeCursor({ ...feed, ...other }, text)).toEqual(position)
  })

  it('does not contain the id of the account', () => {
    const one = encodeCursor({ ...feed, accountId: '4660' }, position)
    expect(Buffer.from(one, 'base64url').toString('hex')).not.toContain('1234')
  })
})
