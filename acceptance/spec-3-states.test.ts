import { expect, test } from 'vitest'
import { idsOf, list, partners, products } from './client.ts'

test('[3-1][R5] records have no states: inactive ones are listed like any other', async () => {
  expect(await idsOf('active=false')).toEqual([6, 22, 25])
  expect(await idsOf('active=false', partners)).toEqual([14])
  const { data } = await list(`${products}?fields=id,active&limit=10`)
  expect(data[5]).toEqual({ id: 6, active: false })
})
