import fc from 'fast-check'
import { expect, it } from 'vitest'
import { limits } from '../limits/limits.ts'
import { LongRowSplitter } from './long-rows.ts'

interface Message {
  readonly bytes: Buffer
  /** Of a long row. */
  readonly fields: readonly (string | null)[] | undefined
}

function messageOf(code: string, payload: Buffer): Buffer {
  const header = Buffer.alloc(5)
  header.write(code)
  header.writeInt32BE(payload.length + 4, 1)
  return Buffer.concat([header, payload])
}

function int(size: 2 | 4, value: number): Buffer {
  const bytes = Buffer.alloc(size)
  bytes.writeIntBE(value, 0, size)
  return bytes
}

function rowOf(fields: readonly (string | null)[]): Message {
  const parts = fields.map((field) =>
    field === null ? int(4, -1) : Buffer.concat([int(4, Buffer.byteLength(field)), Buffer.from(field)]),
  )
  const payload = Buffer.concat([int(2, fields.length), ...parts])
  const isLong = payload.length + 4 >= limits.longRowBytesMin
  return { bytes: messageOf('D', payload), fields: isLong ? fields : undefined }
}

const other = fc
  .tuple(fc.constantFrom('T', 'C', 'Z', 'E', 'D'), fc.uint8Array({ maxLength: 40 }))
  .map(([code, payload]): Message => ({ bytes: messageOf(code, Buffer.from(payload)), fields: undefined }))
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.nat({ max: 9 }).map((n) => 'żółć'.repeat(limits.longRowBytesMin / 8 - 4 + n)),
)
const row = fc.array(fc.option(text), { maxLength: 5 }).map(rowOf)
const messages = fc.array(fc.oneof(other, row), { maxLength: 8 })
const chunkSizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 100_000 })), {
  minLength: 1,
})

it('separates long rows from other messages, however the stream is divided', () => {
  fc.assert(
    fc.property(messages, chunkSizes, (sent, sizes) => {
      const rows: (string | null)[][] = []
      const others: Buffer[] = []
      const splitter = new LongRowSplitter(
        (bytes) => others.push(Buffer.from(bytes)),
        (fields) => rows.push(fields.map((field) => field?.toString() ?? null)),
      )
      const stream = Buffer.concat(sent.map(({ bytes }) => bytes))
      for (let at = 0, n = 0; at < stream.length; n++) {
        const size = sizes[n % sizes.length] ?? 1
        splitter.add(stream.subarray(at, at + size))
        at += size
      }
      expect(rows).toEqual(sent.flatMap(({ fields }) => (fields === undefined ? [] : [fields])))
      const expected = sent.flatMap(({ fields, bytes }) => (fields === undefined ? [bytes] : []))
      expect(Buffer.concat(others).equals(Buffer.concat(expected))).toBe(true)
    }),
    { seed: 1, numRuns: 200 },
  )
})
