import { expect, it } from 'vitest'
import { resources } from '../../catalog/resources.ts'
import { ChunkBuilder } from '../../import/row.ts'
import { demoRecords } from './demo-data.ts'

it.each(Object.values(resources))(
  'generates $plural that an import accepts, the same for the same seed',
  (resource) => {
    const records = [...demoRecords[resource.name](2_000, 7)]
    const chunk = new ChunkBuilder(resource)
    for (const [i, record] of records.entries()) chunk.addObject(i + 1, record)
    expect(chunk.faults).toEqual([])
    expect(records.map((record) => Object.keys(record))).toEqual(
      records.map(() => resource.fields.map(({ name }) => name)),
    )
    expect([...demoRecords[resource.name](2_000, 7)]).toEqual(records)
    expect([...demoRecords[resource.name](2_000, 8)]).not.toEqual(records)
  },
)

it('generates inactive products, null values, every category and special characters', () => {
  const products = [...demoRecords.product(10_000)]
  const share = (test: (product: (typeof products)[number]) => boolean) =>
    products.filter(test).length / 10_000
  expect(share(({ active }) => active === false)).toBeCloseTo(0.05, 1)
  expect(share(({ is_rsd_product: flag }) => flag === null)).toBeCloseTo(0.3, 1)
  expect(new Set(products.map(({ categ_id: category }) => category)).size).toBe(41)
  expect(share(({ name }) => /["&ø×½]/.test(String(name)))).toBeGreaterThan(0.5)
})

it('generates companies with leading zeros in branch_user', () => {
  for (const { branch_user: branch } of demoRecords.company(100)) expect(branch).toMatch(/^0\d{4}$/)
})
