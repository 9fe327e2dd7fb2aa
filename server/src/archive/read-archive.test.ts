import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { archiveParts } from './read-archive.ts'

const head = [
  '{"$archive":{"format":1,"version":"0.1.0","account":"acme","exported_at":"2026-11-15T22:30:00.000Z"}}',
  '{"$table":{"name":"product","columns":["id","name"]}}',
]

function* archive(rows: readonly string[], bufferBytes: number): Generator<Buffer> {
  const lines = [...head, ...rows].map((line) => `${line}\n`).join('')
  const sha256 = createHash('sha256').update(lines).digest('hex')
  const bytes = Buffer.from(`${lines}${JSON.stringify({ $end: { rows: rows.length, sha256 } })}\n`)
  for (let start = 0; start < bytes.length; start += bufferBytes)
    yield bytes.subarray(start, start + bufferBytes)
}

async function partsOf(rows: readonly string[], bufferBytes = 64 * 1024): Promise<(readonly string[])[]> {
  const found: (readonly string[])[] = []
  const bytes = async function* () {
    yield* archive(rows, bufferBytes)
  }
  for await (const part of archiveParts(bytes())) if (part.kind === 'rows') found.push(part.rows)
  return found
}

it('the rows of an archive are bounded by their size, not only by their number', async () => {
  const long = Array.from({ length: 40 }, (_, i) => `{"id":${i},"name":"${'x'.repeat(1_000_000)}"}`)
  const parts = await partsOf(long)
  expect(parts.flat()).toEqual(long)
  for (const rows of parts) expect(rows.join('').length).toBeLessThan(6_000_000)
  const short = Array.from({ length: 12_000 }, (_, i) => `{"id":${i}}`)
  expect((await partsOf(short)).map(({ length }) => length)).toEqual([5000, 5000, 2000])
})

it('an archive is read the same whatever the size of the input buffers', async () => {
  const rows = ['{"id":1,"name":"Müller"}', '{"id":2,"name":""}']
  for (const size of [1, 2, 7, 1000]) expect(await partsOf(rows, size)).toEqual([rows])
})
