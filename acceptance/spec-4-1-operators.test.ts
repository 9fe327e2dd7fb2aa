import { describe, expect, test } from 'vitest'
import { companies, encoded, idsOf, list, partners, products } from './client.ts'

const all = [...Array.from({ length: 29 }, (_, i) => i + 1), 42]
const allBut = (...ids: readonly number[]) => all.filter((id) => !ids.includes(id))

describe('operators', () => {
  for (const [filter, found] of [
    ['name=Hex bolt M8', [1]],
    ['list_price=12.5', [4, 42]],
    ['categ_id=8', [4, 5, 6]],
    ['active=false', [6, 22, 25]],
    ['is_rsd_product=true', [2, 25]],
    ['create_date=2026-01-06T00:00:00.000Z', [5]],
  ] as const) {
    test(`[4.1-10] equals: ${filter}`, async () => {
      expect(await idsOf(filter)).toEqual(found)
    })
  }

  for (const [filter, found] of [
    ['name!=Hex bolt M8', allBut(1)],
    ['list_price!=12.5', allBut(4, 42)],
    ['active!=true', [6, 22, 25]],
    ['create_date!=2026-01-06T00:00:00.000Z', allBut(5)],
  ] as const) {
    test(`[4.1-11] not equals: ${filter}`, async () => {
      expect(await idsOf(filter)).toEqual(found)
    })
  }

  test('[4.1-12] contains: at the start, in the middle and at the end of a text', async () => {
    expect(await idsOf('name*Hex bolt')).toEqual([1, 2, 42])
    expect(await idsOf('name*of the')).toEqual([29])
    expect(await idsOf('name*tool')).toEqual([7, 8, 9])
    expect(await idsOf('name*no such text')).toEqual([])
  })

  test('[4.1-13] not contains: every record whose text does not contain it', async () => {
    expect(await idsOf('name!*o')).toEqual([3, 4, 12, 14, 15, 17, 18, 22, 24, 26, 27, 28])
    expect(await idsOf('name!*Hex bolt')).toEqual(allBut(1, 2, 42))
  })

  for (const [filter, found] of [
    ['list_price>40', [5, 6, 9, 20, 25, 29]],
    ['qty_available>310', [5, 20]],
    ['id>28', [29, 42]],
    ['create_date>2026-01-28T10:00:00.000Z', [29, 42]],
  ] as const) {
    test(`[4.1-14] greater than: ${filter}`, async () => {
      expect(await idsOf(filter)).toEqual(found)
    })
  }

  test('[4.1-15] greater or equal', async () => {
    expect(await idsOf('list_price>=40')).toEqual([5, 6, 9, 20, 25, 28, 29])
    expect(await idsOf('qty_available>=310')).toEqual([1, 5, 20, 42])
    expect(await idsOf('id>=29')).toEqual([29, 42])
  })

  test('[4.1-16] less than', async () => {
    expect(await idsOf('list_price<0.3')).toEqual([1, 2, 19, 21])
    expect(await idsOf('qty_available<0')).toEqual([7, 19])
    expect(await idsOf('id<3')).toEqual([1, 2])
  })

  test('[4.1-17] less or equal', async () => {
    expect(await idsOf('list_price<=0.3')).toEqual([1, 2, 3, 19, 21])
    expect(await idsOf('qty_available<=0')).toEqual([2, 7, 19, 21, 25])
    expect(await idsOf('id<=3')).toEqual([1, 2, 3])
  })

  test('[4.1-18] in list: any of the values', async () => {
    expect(await idsOf('id[42,3,17,99]')).toEqual([3, 17, 42])
    expect(await idsOf('default_code[BLT-M8,MIX]')).toEqual([1, 28])
    expect(await idsOf('list_price[0.1,12.5]')).toEqual([1, 4, 42])
    expect(await idsOf('is_rsd_product[true,false]')).toEqual([2, 3, 4, 25, 42])
    expect(await idsOf('categ_id[13]')).toEqual([25])
    expect(await idsOf('create_date[2026-01-20,2026-01-21]')).toEqual([20, 21])
  })

  test('[4.1-19] not in list: none of the values', async () => {
    expect(await idsOf('id![1,2,3]')).toEqual(allBut(1, 2, 3))
    expect(await idsOf('name![null,true]')).toEqual(allBut(18))
    expect(await idsOf('active![true]')).toEqual([6, 22, 25])
    expect(await idsOf('categ_id![7,8,9,10,11,12,14]')).toEqual([21, 25])
  })
})

describe('combining conditions', () => {
  test('[4.1-20] & combines conditions that must all match', async () => {
    expect(await idsOf('categ_id=7&list_price>5')).toEqual([15, 16, 42])
    expect(await idsOf('active=true&categ_id=8&list_price<50')).toEqual([4])
    expect(await idsOf('id=1&id=2')).toEqual([])
  })

  test('[4.1-21] | combines conditions of which one must match', async () => {
    expect(await idsOf('id=1|id=2')).toEqual([1, 2])
    expect(await idsOf('categ_id=13|list_price<0|name*Emoji')).toEqual([16, 19, 25])
    expect(await idsOf('id=1|id=1')).toEqual([1])
  })

  test('[4.1-22] several conditions combined by & are one filter value', async () => {
    const raw = await list(`${products}?fields=id&filter=categ_id=7&active=true&list_price>=3&list_price<=5`)
    expect(raw.data).toEqual([{ id: 10 }, { id: 13 }])
    expect(raw.meta.total).toBe(2)
  })

  test('[4.1-23] a percent-encoded filter has the same meaning as its plain form', async () => {
    const plain = await list(`${products}?filter=list_price>10&active=true&limit=5`)
    const percentEncoded = await list(`${products}?filter=${encoded('list_price>10&active=true')}&limit=5`)
    const every = Array.from('list_price>10&active=true', (c) => `%${c.charCodeAt(0).toString(16)}`).join('')
    expect(percentEncoded).toEqual(plain)
    expect(await list(`${products}?filter=${every}&limit=5`)).toEqual(plain)
    expect(plain.data.map((row) => row['id'])).toEqual([4, 5, 7, 8, 9])
    expect(plain.meta.total).toBe(19)
  })

  test('[4.1-24][F1] & binds tighter than |', async () => {
    expect(await idsOf('id=1|id=2&active=false')).toEqual([1])
    expect(await idsOf('active=false&id=2|id=1')).toEqual([1])
    expect(await idsOf('categ_id=8&active=false|categ_id=13&active=false|id=3')).toEqual([3, 6, 25])
  })
})

describe('on the other resources', () => {
  test('[4.1-10][4.1-12] partners and companies are filtered by the same language', async () => {
    expect(await idsOf('is_vendor=true&is_customer=true', partners)).toEqual([11, 42])
    expect(await idsOf('name*customer|is_patient=true', partners)).toEqual([4, 5, 13, 14, 15, 16, 17, 18])
    expect(await idsOf('branch_user*417', companies)).toEqual([4, 5, 42])
    expect(await idsOf('branch_user[17,00017]', companies)).toEqual([2, 3])
  })
})
