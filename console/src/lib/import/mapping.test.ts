import { expect, it } from 'vitest'
import { collections } from '../../api/catalog.ts'
import { parseCsv } from './csv-rows.ts'
import { keyChoices, type Mapping, mappedRows, mappingFault, suggestedColumns } from './mapping.ts'

const { product, partner } = collections
const own = [
  { name: 'x_sku', type: 'text', nullable: true, description: 'Article no.' },
  { name: 'x_weight', type: 'decimal', nullable: true, description: 'Weight' },
] as const
const products = { ...product, fields: [...product.fields, ...own] }

it('maps columns by name, label or synonym, each field once', () => {
  expect(suggestedColumns(["'name", 'Price', 'Article No', 'ID', 'name', 'colour'], products)).toEqual([
    'name',
    'list_price',
    'x_sku',
    'id',
    undefined,
    undefined,
  ])
  expect(suggestedColumns(['E-Mail', 'Telefon'], partner)).toEqual(['email', 'phone'])
})

it('prefers a label to a synonym', () => {
  const sku = { ...own[0], description: 'Article number' }
  const fields = [...product.fields, sku]
  expect(suggestedColumns(['Article Number', 'Code'], { ...product, fields })).toEqual([
    'x_sku',
    'default_code',
  ])
})

it('offers the id and fields that can be unique as keys', () => {
  expect(keyChoices(products, 'default_code')).toEqual(['id', 'default_code', 'x_sku'])
})

it.each([
  [['id', 'name'], 'id', undefined],
  [['id', 'name', 'name'], 'id', 'Two columns'],
  [['name', undefined], 'id', 'No column is mapped to id'],
  [['id', undefined], 'id', 'at least one more'],
  [['id', 'x_sku', 'name'], 'x_sku', 'have no id'],
])('checks the columns %j with the key %s', (columns, key, fault) => {
  const found = mappingFault({ columns, key, mode: 'upsert', notation: 'service' })
  if (fault === undefined) expect(found).toBe(undefined)
  else expect(found).toContain(fault)
})

it('restores the texts of a file in the form for spreadsheets, as the service does', () => {
  const mapping: Mapping = { columns: ['id', 'name'], key: 'id', mode: 'upsert', notation: 'service' }
  const csv = `id,'name\n1,"'=1+1"\n2,"x;'=1"\n3,"'"\n4,"'s-Hertogenbosch"\n5,"''"\n`
  const names = mappedRows(parseCsv(csv), product, mapping).map(({ values }) => values?.['name'])
  expect(names).toEqual(['=1+1', 'x;=1', '', "'s-Hertogenbosch", "'"])
  const exact = mappedRows(parseCsv(csv.replace("'name", 'name')), product, mapping)
  expect(exact[0]?.values?.['name']).toBe("'=1+1")
})
