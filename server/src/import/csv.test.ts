import { describe, expect, it } from 'vitest'
import { resources } from '../catalog/resources.ts'
import { csvRows } from './csv.ts'
import type { Row, RowFault } from './row.ts'

async function read(text: string, bufferBytes = 7): Promise<{ rows: Row[]; faults: RowFault[] }> {
  const rows: Row[] = []
  const faults: RowFault[] = []
  for await (const chunk of csvRows(resources.company, buffersOf(Buffer.from(text), bufferBytes))) {
    rows.push(...chunk.rows)
    faults.push(...chunk.faults)
  }
  return { rows, faults }
}

async function* buffersOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

describe('a CSV file', () => {
  it('is parsed the same whatever the size of the input buffers', async () => {
    const text = '\ufeffid,name,branch_user,company_code\n1,"Müller ""&"" Co, Ltd",007,""\n2,Ærø,"",\n'
    const rows: Row[] = [
      { line: 2, cells: ['1', 'Müller "&" Co, Ltd', '', '007', undefined, undefined] },
      { line: 3, cells: ['2', 'Ærø', '\\N', '', undefined, undefined] },
    ]
    for (const size of [1, 2, 3, 50, 1000]) expect(await read(text, size)).toEqual({ rows, faults: [] })
  })
  it.each(['\n', '\r\n'])(
    'reports the line where a row starts, with %j between and within rows',
    async (end) => {
      const lines = [
        'id,name,branch_user',
        '1,"two',
        'lines",01',
        '',
        '0,x,02',
        '"x","three',
        '',
        'lines",03',
        '3,y,04',
      ]
      const { rows, faults } = await read(lines.join(end))
      expect(rows.map(({ line, cells }) => [line, cells[0]])).toEqual([
        [2, '1'],
        [9, '3'],
      ])
      expect(faults).toEqual([
        { line: 5, field: 'id', reason: 'is below 1', value: '0' },
        { line: 6, field: 'id', reason: 'is not an integer', value: 'x' },
      ])
    },
  )
  it('reports all faults of a row', async () => {
    const { faults } = await read('id,name,branch_user,create_date\nx,a,1,yesterday\n1,a\n')
    expect(faults).toEqual([
      { line: 2, field: 'id', reason: 'is not an integer', value: 'x' },
      {
        line: 2,
        field: 'create_date',
        reason: 'is not an ISO 8601 date or date-time that exists in the years 0001 to 9999',
        value: 'yesterday',
      },
      { line: 3, field: '', reason: 'has 2 cells; the header has 4', value: '1,a' },
    ])
  })
  it.each([
    [
      'nmae,branch_user\n',
      'The file does not match the resource company: a company has no field "nmae" (did you mean name?); the column id is missing. Nothing was written.',
    ],
    [
      'id,name,name,branch_user\n',
      'The file does not match the resource company: the column name occurs twice. Nothing was written.',
    ],
    ['', 'The file is empty. A CSV file must begin with a header. Nothing was written.'],
    [
      'id,name,branch_user\n1,a,b\n2,"open\n3,c,d\n',
      'The row that starts at line 3 has a double quote that is never closed.',
    ],
    [
      'id,name,branch_user\n1,a,b\n2,19" rack,d\n',
      'The row that starts at line 3 has a double quote inside a cell. Put the cell in double quotes, and double each quote inside it.',
    ],
    [
      'id,name,branch_user\n1,a,b\n2,"19" rack",d\n',
      'The row that starts at line 3 has a double quote inside a cell. Put the cell in double quotes, and double each quote inside it.',
    ],
  ])('%j ends the import', async (text, message) => {
    await expect(read(text, 1000)).rejects.toMatchObject({ message })
  })
})

describe('the cost of a CSV file', () => {
  it('with more columns than fields is that of its first names', async () => {
    let bytesRead = 0
    const input = async function* () {
      for await (const buffer of buffersOf(Buffer.from(`id,nmae,${'x,'.repeat(500_000)}`), 1024)) {
        bytesRead += buffer.length
        yield buffer
      }
    }
    const reading = async () => {
      for await (const _ of csvRows(resources.company, input()));
    }
    await expect(reading()).rejects.toThrow(
      'company: the header has more columns than a company has fields (6); a company has no field "nmae" (did you mean name?); a company has no field "x" (its fields are',
    )
    expect(bytesRead).toBe(1024)
  })
  it('names the first faults of its header and counts the others', async () => {
    const error = await read(`id,id,id,id,id,id\n`).catch((thrown: unknown) => thrown)
    expect(String(error)).toBe(
      'ImportError: The file does not match the resource company: the column id occurs twice; the column id occurs twice; ' +
        'the column id occurs twice; the column id occurs twice; the column id occurs twice. Nothing was written.',
    )
    await expect(read('a,b,c,d,e,f\n')).rejects.toThrow('(and 2 more). Nothing was written.')
  })
  it('ends at a row with more cells than any row can have', async () => {
    await expect(read(`id,name\n1,a\n${','.repeat(5000)}\n`, 1024)).rejects.toThrow(
      'The row that starts at line 3 has more than 100 cells.',
    )
  })
})
