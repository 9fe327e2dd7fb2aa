import { describe, expect, it } from 'vitest'
import { resources } from '../catalog/resources.ts'
import { ImportError } from './columns.ts'
import { ndjsonRows } from './ndjson.ts'
import type { Row, RowFault } from './row.ts'

async function* buffersOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

async function read(lines: readonly string[], bufferBytes = 7): Promise<{ rows: Row[]; faults: RowFault[] }> {
  const rows: Row[] = []
  const faults: RowFault[] = []
  for await (const chunk of ndjsonRows(
    resources.product,
    buffersOf(Buffer.from(lines.join('\n')), bufferBytes),
  )) {
    rows.push(...chunk.rows)
    faults.push(...chunk.faults)
  }
  return { rows, faults }
}

const first = '{"id":1,"name":"Müller"}'

describe('NDJSON', () => {
  it('is parsed the same whatever the size of the input buffers', async () => {
    for (const size of [1, 2, 3, 50, 1000]) {
      const { rows, faults } = await read(
        [first, '', '{"$delete":2}\r', 'x', '{"id":3}', '{"$end":{"count":3}}'],
        size,
      )
      expect(rows.map(({ line, cells }) => [line, cells[0], cells[1]])).toEqual([
        [1, '1', 'Müller'],
        [3, '2', undefined],
        [5, '3', undefined],
      ])
      expect(faults).toEqual([{ line: 4, field: '', reason: 'is not a JSON object', value: 'x' }])
    }
  })
  it.each([
    ['{"id":2,"list_price":[0,0]}', 'list_price', 'is an array or an object, not a decimal number', '[0,0]}'],
    ['{"id":2,"extra":{"a":1}}', 'extra', expect.stringContaining('has no field "extra"'), '{"a":1}}'],
    ['{"$delete":[1]}', '$delete', 'is an array or an object, not an id', '[1]}'],
    ['{"id":2,"name":"a","id":3}', 'id', 'occurs more than once', '{"id":2,"name":"a","id":3}'],
  ])('rejects %s without parsing it', async (line, field, reason, value) => {
    const { rows, faults } = await read([first, line])
    expect(rows).toHaveLength(1)
    expect(faults).toEqual([{ line: 2, field, reason, value }])
  })
  it('rejects a line with more members than fields, and names the unknown ones among the first', async () => {
    const extra = Array.from({ length: 1000 }, (_, i) => `"m${i}":0`).join(',')
    const { faults } = await read([first, `{"id":2,"name":"x",${extra}}`], 50_000)
    expect(faults.map(({ field }) => field)).toEqual([
      'm0',
      'm1',
      'm2',
      'm3',
      'm4',
      'm5',
      'm6',
      'm7',
      'm8',
      'm9',
      '',
    ])
    expect(faults.at(-1)?.reason).toBe('has more members than a product has fields (11)')
  })
  it('fails before a write if the first line has unknown members, with a bounded message', async () => {
    const names = Array.from({ length: 9 }, (_, i) => `"${'n'.repeat(50_000)}${i}":0`).join(',')
    const error = await read([`{"id":1,${names}}`], 1_000_000).catch((thrown: unknown) => thrown)
    if (!(error instanceof ImportError)) throw error
    expect(error.message).toContain('(and 4 more)')
    expect(JSON.stringify([error.message, error.faults]).length).toBeLessThan(64 * 1024)
  })
  it('ends after too many blank lines', async () => {
    await expect(read(['\n'.repeat(10_001)], 50_000)).rejects.toThrow('more than 10000 blank lines')
  })
  it('rejects an end marker with other members, or another count', async () => {
    for (const end of ['{"$end":{"count":1},"id":5}', '{"$end":{"count":2}}', '{"$end":1}'])
      await expect(read([first, end])).rejects.toThrow('The end marker in line 2')
  })
})
