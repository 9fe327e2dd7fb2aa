import { expect, it } from 'vitest'
import { CsvError, csvLine, decodeCsv, parseCsv } from './csv-rows.ts'

it('reads quotes, line breaks within cells, and the difference between no value and an empty text', () => {
  const { header, rows } = parseCsv('\uFEFFid,name,note\r\n1,"two\nlines, ""quoted""",\r\n\r\n2,,""\r\n')
  expect(header).toEqual(['id', 'name', 'note'])
  expect(rows).toEqual([
    { line: 2, cells: ['1', 'two\nlines, "quoted"', null] },
    { line: 5, cells: ['2', null, ''] },
  ])
})

it.each([',', ';', '\t'])('finds the separator %j', (separator) => {
  const text = [`"a,b;c"`, 'x', 'y'].join(separator)
  expect(parseCsv(`${text}\n1${separator}2${separator}3`)).toEqual({
    header: ['a,b;c', 'x', 'y'],
    rows: [{ line: 2, cells: ['1', '2', '3'] }],
  })
})

it('reads a last row without a line break, and a last empty cell', () => {
  expect(parseCsv('a,b\n1,').rows).toEqual([{ line: 2, cells: ['1', null] }])
})

it.each([
  ['', 'The file is empty'],
  ['a\n"b', 'line 2 has a double quote that is never closed'],
  ['a\n"b"c', 'line 2 has a text after a closing quote'],
])('%j cannot be read', (text, message) => {
  expect(() => parseCsv(text)).toThrow(CsvError)
  expect(() => parseCsv(text)).toThrow(message)
})

it('writes what it reads', () => {
  const cells = ['a"b', null, '', 'x,y\nz']
  expect(parseCsv(`h,i,j,k\n${csvLine(cells)}`).rows[0]?.cells).toEqual(cells)
})

it('decodes what spreadsheets save', () => {
  expect(decodeCsv(new TextEncoder().encode('Müller €'))).toBe('Müller €')
  expect(decodeCsv(Uint8Array.of(0x4d, 0xfc, 0x6c, 0x6c, 0x65, 0x72, 0x20, 0x80))).toBe('Müller €')
})
