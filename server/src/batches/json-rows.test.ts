import { describe, expect, it } from 'vitest'
import { resources } from '../catalog/resources.ts'
import { Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { jsonRows } from './json-rows.ts'
import { RowsScanner } from './rows-scanner.ts'

function scanned(text: string): string[] {
  const scanner = new RowsScanner(text)
  const rows: string[] = []
  for (let row = scanner.next(); row !== undefined; row = scanner.next()) rows.push(row)
  return rows
}

function failureOf(work: () => unknown): Failure {
  try {
    work()
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
  throw new Error('it did not fail')
}

describe('RowsScanner', () => {
  it('divides an array into the texts of its elements', () => {
    const elements = [
      '{}',
      '{"id":1,"name":"a, b] c} \\" \\\\"}',
      '{"a":[1,{"b":"]"}],"c":{}}',
      '[1,[2]]',
      'null',
      '-1.5e3',
      '"x,]"',
    ]
    for (const between of ['', ' ', '\r\n\t']) {
      const text = `${between}{${between}"rows"${between}:${between}[${elements.join(`${between},${between}`)}${between}]${between}}${between}`
      expect(scanned(text).map((row) => row.trim())).toEqual(elements)
      expect(JSON.parse(text)).toEqual({ rows: elements.map((element) => JSON.parse(element)) })
    }
    expect(scanned('{"rows":[]}')).toEqual([])
    expect(scanned('{"r\\u006fws":[1]}')).toEqual(['1'])
  })

  it('rejects everything else', () => {
    const malformed = [
      '',
      ' ',
      'x',
      '{',
      '{"rows"',
      '{"rows":',
      '{"rows":[',
      '{"rows":[1',
      '{"rows":[1]',
      '{"rows":[1]}x',
      '{"rows":[1,]}',
      '{"rows":[,1]}',
      '{"rows":[,]}',
      '{"rows":[1}}',
      '{"rows":[]]',
      '{rows:[]}',
      '{"rows":["x]}',
      '{"rows" [1]}',
      '{,"rows":[1]}',
      '{"rows":[1],}',
      '{"rows":[{]}',
      '{"\\x":[1]}',
      '{"a":'.repeat(9),
    ]
    for (const text of malformed) {
      expect(() => JSON.parse(text), text).toThrow()
      expect(failureOf(() => scanned(text)).code, text).toBe('body_invalid')
    }
    const others = {
      '[]': 'json_invalid',
      '1': 'json_invalid',
      '{}': 'member_required',
      '{"rows":{}}': 'member_invalid',
      '{"row":[]}': 'member_unknown',
    }
    for (const [text, code] of Object.entries({
      ...others,
      '{"rows":[1],"mode":"update"}': 'member_unknown',
      '{"rows":[1],"rows":[2]}': 'member_invalid',
    }))
      expect(failureOf(() => scanned(text)).faults[0]?.code, text).toBe(code)
  })
})

describe('jsonRows', () => {
  const rowsOf = async (text: string) => {
    async function* body() {
      yield Buffer.from(text)
    }
    return await jsonRows(resources.product, body(), { isGzipped: false, nextSlice: async () => {} })
  }
  const objects = (count: number) =>
    `{"rows":[${Array.from({ length: count }, (_, i) => `{"id":${i + 1}}`).join()}]}`

  it('has the rows, and those that are rejected', async () => {
    const chunks = await rowsOf(
      '{"rows":[{"id":1,"name":"a"},{"id":2,"name":{}},7,{"$delete":3},{"$end":{"count":3}}]}',
    )
    expect(chunks.flatMap(({ rows }) => rows.map(({ line, isDelete }) => [line, isDelete]))).toEqual([
      [1, undefined],
      [4, true],
    ])
    expect(chunks.flatMap(({ faults }) => faults.map(({ line }) => line))).toEqual([2, 3, 5])
  })

  it('has as many rows as one transaction writes, and no more', async () => {
    const chunks = await rowsOf(objects(limits.batchRows))
    expect(chunks.flatMap(({ rows }) => rows)).toHaveLength(limits.batchRows)
    await expect(rowsOf(objects(limits.batchRows + 1))).rejects.toThrow('at most 1000 rows')
  })

  it('fails if a row is not JSON, if none is valid, or if the body is too large', async () => {
    await expect(rowsOf('{"rows":[{"id":1},{"id":2,}]}')).rejects.toThrow('in row 1')
    await expect(rowsOf('{"rows":[{"id":1},nonsense]}')).rejects.toThrow('in row 1')
    await expect(rowsOf('{"rows":[{"id":"x"},7]}')).rejects.toThrow('No row is valid')
    const long = `{"rows":[{"id":1,"name":"${'x'.repeat(limits.batchJsonBytesMax)}"}]}`
    await expect(rowsOf(long)).rejects.toThrow('has at most 1048576 bytes')
  })

  it('takes a body of brackets, without parsing it', async () => {
    const depth = 500_000
    const nested = `{"rows":[${'['.repeat(depth)}${']'.repeat(depth)}]}`
    await expect(rowsOf(nested)).rejects.toThrow('No row is valid')
    await expect(rowsOf(`{"rows":[{"id":${'['.repeat(depth)}`)).rejects.toThrow('at its end')
  })
})
