import { expect, it } from 'vitest'
import { collections } from '../../api/catalog.ts'
import { parseCsv } from './csv-rows.ts'
import { type Mapping, mappedRows } from './mapping.ts'
import { previewOf } from './preview.ts'

const { product } = collections
const records = [
  { id: 1, name: 'Bolt', list_price: '1.5' },
  { id: 2, name: 'Nut', list_price: '2' },
]

async function preview(
  csv: string,
  mode: Mapping['mode'],
  columns: Mapping['columns'] = ['id', 'name', 'list_price'],
) {
  const mapping: Mapping = { columns, key: 'id', mode, notation: 'service' }
  const filters: string[] = []
  const read = async (filter: string) => {
    filters.push(filter)
    return records
  }
  const result = await previewOf(mappedRows(parseCsv(csv), product, mapping), product, mapping, read)
  return { ...result, filters, reasons: result.rejects.map(({ row, reason }) => [row.line, reason]) }
}

const csv = 'id,name,list_price\n1,Bolt,1.50\n2,Nut,3\n3,Washer,0.1\n4,,1\n5,x,cheap\n6,short\n'

it('counts inserts, changes and rows that are equal, and says why rows are rejected', async () => {
  const { inserts, changes, unchanged, reasons, examples, filters, checked } = await preview(csv, 'upsert')
  expect([checked, inserts, changes, unchanged]).toEqual([6, 1, 1, 1])
  expect(examples).toEqual([{ key: '2', field: 'list_price', from: '2', to: '3' }])
  expect(reasons).toEqual([
    [5, 'name is required'],
    [6, 'list_price is not a decimal number: cheap'],
    [7, 'The row has 2 cells; the header has 3.'],
  ])
  expect(filters).toEqual(['id[1,2,3]'])
})

it('rejects what the mode does not allow', async () => {
  expect((await preview('id,list_price\n2,3\n3,1\n', 'update', ['id', 'list_price'])).reasons).toEqual([
    [3, 'There is no product with this id.'],
  ])
  expect((await preview('id,name\n2,Nut\n3,x\n', 'insert', ['id', 'name'])).reasons).toEqual([
    [2, 'A product with this id exists.'],
  ])
  expect((await preview('id,list_price\n3,1\n', 'upsert', ['id', 'list_price'])).reasons).toEqual([
    [2, 'name is required to insert a product'],
  ])
})

it('reads the records in several requests, each key once', async () => {
  const lines = Array.from({ length: 450 }, (_, index) => `${(index % 300) + 10},n`)
  const { filters, inserts } = await preview(`id,name\n${lines.join('\n')}\n`, 'upsert', ['id', 'name'])
  expect(filters.map((filter) => filter.split(',').length)).toEqual([200, 100])
  expect(inserts).toBe(450)
})
