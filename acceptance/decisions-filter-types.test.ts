import { describe, expect, test } from 'vitest'
import { filterFault, idsOf, products, recordIn, send } from './client.ts'

const all = [...Array.from({ length: 29 }, (_, i) => i + 1), 42]
const allBut = (...ids: readonly number[]) => all.filter((id) => !ids.includes(id))

describe('F6: comparison operators', () => {
  test('[F6] are for numbers and timestamps', async () => {
    expect(await idsOf('product_tmpl_id>122')).toEqual([42])
    expect(await idsOf('qty_available<=-1')).toEqual([7, 19])
    expect(await idsOf('write_date>=2026-02-03')).toEqual([29, 42])
  })

  for (const [filter, type, operators] of [
    ['name>5', 'text', ['=', '!=', '*', '!*']],
    ['default_code<=X', 'text', ['=', '!=', '*', '!*']],
    ['active>=true', 'boolean', ['=', '!=']],
    ['is_rsd_product<true', 'boolean', ['=', '!=']],
  ] as const) {
    test(`[F6] ${filter} is a 400 that names the type of the field and its operators`, async () => {
      const fault = await filterFault(filter)
      expect(fault).toMatchObject({ parameter: 'filter', code: 'operator_not_for_type' })
      const text = JSON.stringify(fault)
      expect(text).toContain(type)
      for (const operator of operators) expect(text).toContain(operator)
    })
  }
})

describe('F7: numbers', () => {
  for (const [filter, found] of [
    ['list_price=0.3', [3]],
    ['list_price=0.30', [3]],
    ['list_price=3e-1', [3]],
    ['list_price=3E-1', [3]],
    ['list_price=0.30000000000000004', []],
    ['list_price=1.25e1', [4, 42]],
    ['list_price=-3.25', [19]],
    ['list_price=-0', [21]],
    ['list_price=123456789012345678.123456', [20]],
    ['list_price=123456789012345678.123457', []],
    ['list_price=123456789012345680', []],
    ['list_price>123456789012345678.123455', [20]],
    ['list_price>=123456789012345678.1234561', []],
    ['qty_available=123456789012345678.123457', [20]],
    ['list_price>15&list_price<20', [8]],
    ['list_price[0.1,0.20,100.0]', [1, 2, 5]],
    ['list_price![0.1]&id<4', [2, 3]],
    ['id=42', [42]],
    ['categ_id>=-9007199254740991', allBut(21)],
  ] as const) {
    test(`[F7] ${filter}`, async () => {
      expect(await idsOf(filter)).toEqual(found)
    })
  }

  for (const value of [
    '',
    'abc',
    '+1',
    '.5',
    '1.',
    '01',
    '0x10',
    '1_000',
    '1,5',
    'NaN',
    'Infinity',
    '1 2',
    '٣',
  ]) {
    test(`[F7] list_price=${value} is not a JSON number: 400`, async () => {
      expect((await filterFault(`list_price=${value}`)).code).toBe('value_not_for_type')
    })
  }

  test('[F7] an integer field accepts only integers', async () => {
    for (const filter of ['id=1.5', 'categ_id>7.1', 'id[1,2.5]', 'product_tmpl_id=x', 'id=']) {
      expect((await filterFault(filter)).code).toBe('value_not_for_type')
    }
  })

  test('[B5] an integer beyond ±(2^53 − 1) is a 400', async () => {
    expect(await idsOf('id<9007199254740991')).toEqual(all)
    for (const filter of [
      'id=9007199254740992',
      'categ_id>-9007199254740992',
      'id[1,99999999999999999999]',
    ]) {
      expect((await filterFault(filter)).code).toBe('value_out_of_range')
    }
  })
})

describe('F8: booleans', () => {
  test('[F8] true and false', async () => {
    expect(await idsOf('active=false')).toEqual([6, 22, 25])
    expect(await idsOf('active!=false')).toEqual(allBut(6, 22, 25))
    expect(await idsOf('active[false,true]')).toEqual(all)
  })

  for (const value of ['TRUE', 'True', 'yes', '1', '0', 't', '']) {
    test(`[F8] active=${value} is a 400`, async () => {
      expect((await filterFault(`active=${value}`)).code).toBe('value_not_for_type')
    })
  }
})

describe('F9: timestamps', () => {
  for (const [filter, found] of [
    // A day.
    ['create_date=2026-01-05', [1, 2, 3, 4]],
    ['create_date!=2026-01-05&id<7', [5, 6]],
    ['create_date>=2026-01-05&id<7', [1, 2, 3, 4, 5, 6]],
    ['create_date>2026-01-05&id<7', [5, 6]],
    ['create_date<2026-01-06', [1, 2, 3, 4]],
    ['create_date<=2026-01-06', [1, 2, 3, 4, 5, 6]],
    ['create_date[2026-01-06,2026-01-29]', [5, 6, 29]],
    ['create_date![2026-01-05]&id<7', [5, 6]],
    // A second.
    ['create_date=2026-01-05T08:00:00Z', [1, 2]],
    ['create_date!=2026-01-05T08:00:00Z&id<5', [3, 4]],
    ['create_date>2026-01-05T08:00:00Z&id<5', [3, 4]],
    ['create_date>=2026-01-05T08:00:00Z&id<5', [1, 2, 3, 4]],
    ['create_date<2026-01-05T08:00:00Z', []],
    ['create_date<=2026-01-05T08:00:00Z', [1, 2]],
    // A millisecond.
    ['create_date=2026-01-05T08:00:00.000Z', [1]],
    ['create_date=2026-01-05T08:00:00.500Z', [2]],
    ['create_date>2026-01-05T08:00:00.000Z&id<4', [2, 3]],
    ['write_date<=2026-02-01T00:00:00.001Z', [1, 2]],
    // Without an offset the time is in UTC; with an offset it is converted.
    ['create_date=2026-01-05T08:00:00', [1, 2]],
    ['create_date=2026-01-05T08:00:01.000', [3]],
    ['create_date=2026-01-05T10:00:00+02:00', [1, 2]],
    ['create_date=2026-01-05T02:30:00.500-05:30', [2]],
  ] as const) {
    test(`[F9] ${filter}`, async () => {
      expect(await idsOf(filter)).toEqual(found)
    })
  }

  test('[F9] a value copied from a response matches its record', async () => {
    for (const id of [2, 4, 6, 29, 42]) {
      const one = recordIn(await send(`${products}/${id}`))
      for (const field of ['create_date', 'write_date']) {
        expect(await idsOf(`${field}=${one[field]}&id=${id}`)).toEqual([id])
      }
    }
  })

  for (const value of [
    '',
    'today',
    '2026-13-01',
    '2026-02-30',
    '2026-01-05T25:00:00Z',
    '05.01.2026',
    '1767600000',
  ]) {
    test(`[F9] create_date=${value} is not a timestamp: 400`, async () => {
      expect((await filterFault(`create_date=${value}`)).code).toBe('value_not_for_type')
    })
  }
})
