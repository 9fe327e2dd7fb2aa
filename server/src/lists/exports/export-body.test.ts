import { describe, expect, it } from 'vitest'
import { resources } from '../../catalog/resources.ts'
import { crlfRowEnds, exportBody } from './export-body.ts'

describe('crlfRowEnds', () => {
  it('ends rows with CRLF and preserves line breaks within text, wherever a chunk ends', () => {
    const rows = '1,"a"\n2,"two\nlines"\n\n3,"says ""\n"" twice"\n4,\n'
    const expected = '1,"a"\r\n2,"two\nlines"\r\n\r\n3,"says ""\n"" twice"\r\n4,\r\n'
    for (let size = 1; size <= rows.length; size++) {
      const convert = crlfRowEnds()
      let out = ''
      for (let at = 0; at < rows.length; at += size)
        out += convert(Buffer.from(rows.slice(at, at + size))).toString()
      expect(out, `chunks of ${size}`).toBe(expected)
    }
  })
})

describe('exportBody', () => {
  const fields = resources.company.fields.slice(0, 2)
  async function* chunksOf(...texts: string[]) {
    for (const text of texts) yield Buffer.from(text)
  }
  const bodyAndCount = async (format: 'csv' | 'ndjson', finish: () => Promise<number>) => {
    const source = { epoch: '00000001', version: '7', xid: '500', chunks: chunksOf('{"id"', ':1}\n'), finish }
    let text = ''
    let counted: number | undefined
    for await (const chunk of exportBody(source, format, fields, (count) => {
      counted = count
    }))
      text += chunk.toString()
    return [text, counted]
  }

  it('ends NDJSON with the end record, and begins CSV with the byte order mark and the field names', async () => {
    expect(await bodyAndCount('ndjson', async () => 1)).toEqual([
      '{"id":1}\n{"$end":{"count":1,"version":"99c7b3d8a0b1-7"}}\n',
      1,
    ])
    expect(await bodyAndCount('csv', async () => 1)).toEqual(['\uFEFFid,name\r\n{"id":1}\r\n', 1])
  })

  it('has no end record if the database does not confirm that the export is complete', async () => {
    await expect(bodyAndCount('ndjson', () => Promise.reject(new Error('disconnected')))).rejects.toThrow(
      'disconnected',
    )
  })
})
