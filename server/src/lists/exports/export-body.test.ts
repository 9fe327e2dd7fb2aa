import { describe, expect, it } from 'vitest'
import { resources } from '../../catalog/resources.ts'
import { crlfRowEnds, exportBody } from './export-body.ts'

describe('crlfRowEnds', () => {
  it('ends rows with CRLF, and leaves the line breaks of texts alone, wherever a piece ends', () => {
    const rows = '1,"a"\n2,"two\nlines"\n\n3,"says ""\n"" twice"\n4,\n'
    const expected = '1,"a"\r\n2,"two\nlines"\r\n\r\n3,"says ""\n"" twice"\r\n4,\r\n'
    for (let size = 1; size <= rows.length; size++) {
      const written = crlfRowEnds()
      let out = ''
      for (let at = 0; at < rows.length; at += size)
        out += written(Buffer.from(rows.slice(at, at + size))).toString()
      expect(out, `pieces of ${size}`).toBe(expected)
    }
  })
})

describe('exportBody', () => {
  const fields = resources.company.fields.slice(0, 2)
  async function* pieces(...texts: string[]) {
    for (const text of texts) yield Buffer.from(text)
  }
  const whole = async (format: 'csv' | 'ndjson', finish: () => Promise<number>) => {
    const source = { epoch: '00000001', version: '7', xid: '500', pieces: pieces('{"id"', ':1}\n'), finish }
    let text = ''
    let told: number | undefined
    for await (const piece of exportBody(source, format, fields, (count) => {
      told = count
    }))
      text += piece.toString()
    return [text, told]
  }

  it('ends NDJSON with the mark, and begins CSV with the byte order mark and the names', async () => {
    expect(await whole('ndjson', async () => 1)).toEqual([
      '{"id":1}\n{"$end":{"count":1,"version":"99c7b3d8a0b1-7"}}\n',
      1,
    ])
    expect(await whole('csv', async () => 1)).toEqual(['\uFEFFid,name\r\n{"id":1}\r\n', 1])
  })

  it('has no mark where the database does not say that this was all', async () => {
    await expect(whole('ndjson', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone')
  })
})
