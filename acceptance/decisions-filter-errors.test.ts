import { describe, expect, test } from 'vitest'
import {
  encoded,
  type Fault,
  faultIn,
  filterFault,
  idsOf,
  list,
  problemIn,
  products,
  send,
} from './client.ts'

const viaQuery = (filter: string) =>
  send(products, {
    method: 'QUERY',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `fields=id&filter=${encoded(filter)}`,
  })

const textOf = (fault: Fault) => `${fault.message} ${fault.expected?.join(' ') ?? ''}`.replaceAll(',', '')

/** A filter with this number of bytes that matches nothing. */
const ofBytes = (bytes: number) => `name=${'x'.repeat(bytes - 5)}`

const conditions = (count: number) => Array.from({ length: count }, () => 'id=1').join('|')
const values = (count: number) => `id[${Array.from({ length: count }, (_, i) => i + 1).join(',')}]`
const levels = (count: number) => `${'('.repeat(count)}id=1${')'.repeat(count)}`

describe('F10: limits', () => {
  test('[F10] 8 KB of filter in a URL', async () => {
    expect((await list(`${products}?filter=${ofBytes(8192)}`)).meta.total).toBe(0)
    const fault = faultIn(await send(`${products}?filter=${ofBytes(8193)}`))
    expect(fault.code).toBe('filter_too_long')
    expect(textOf(fault)).toMatch(/8192|8 KB/)
  })

  test('[F10] 64 KB of filter in a QUERY', async () => {
    expect((await viaQuery(ofBytes(65_536))).status).toBe(200)
    const fault = faultIn(await viaQuery(ofBytes(65_537)))
    expect(fault.code).toBe('filter_too_long')
    expect(textOf(fault)).toMatch(/65536|64 KB/)
  })

  test('[F10] 200 conditions', async () => {
    expect(await idsOf(conditions(200))).toEqual([1])
    const fault = await filterFault(conditions(201))
    expect(fault.code).toBe('filter_too_many_conditions')
    expect(textOf(fault)).toContain('200')
  })

  test('[F10] 1,000 list values', async () => {
    expect(await idsOf(values(1000))).toHaveLength(30)
    const fault = await filterFault(values(1001))
    expect(fault.code).toBe('filter_too_many_values')
    expect(textOf(fault)).toContain('1000')
  })

  test('[F10] 32 levels of grouping', async () => {
    expect(await idsOf(levels(32))).toEqual([1])
    const fault = await filterFault(levels(33))
    expect(fault.code).toBe('filter_too_deep')
    expect(textOf(fault)).toContain('32')
  })
})

describe('F11: an error in a filter', () => {
  for (const [filter, code, offset, length, expected, suggestion] of [
    ['id[1,2', 'filter_list_unclosed', 6, 0, ']', 'id[1,2]'],
    ['active=true&id[1,2', 'filter_list_unclosed', 18, 0, ']', 'active=true&id[1,2]'],
    ['(id=1|id=2', 'filter_group_unclosed', 10, 0, ')', '(id=1|id=2)'],
    ['name="Hex', 'filter_quote_unclosed', 5, 4, 'quote', 'name="Hex"'],
    ['id=1&&id=2', 'filter_field_expected', 5, 1, 'field', 'id=1&id=2'],
    ['id=1&', 'filter_field_expected', 5, 0, 'field', 'id=1'],
    ['name', 'filter_operator_expected', 4, 0, '=', undefined],
    ['id[]', 'filter_list_value_empty', 3, 1, 'value', undefined],
    ['name="a" x', 'filter_unexpected', 9, 1, '&', undefined],
    ['=5', 'filter_field_expected', 0, 1, 'field', undefined],
    ["name like '%ex%' and id gt 1", 'filter_operator_expected', 5, 4, '*', 'name * ex & id > 1'],
    ['id in (1,2) or id eq 3', 'filter_operator_expected', 3, 2, '[', 'id [1,2] | id = 3'],
    ["active=true and name='x'", 'value_not_for_type', 7, 17, 'true', 'active=true & name=x'],
    ["list_price<>'10'", 'value_not_for_type', 11, 5, 'number', 'list_price!=10'],
  ] as const) {
    test(`[F11] ${filter} is reported at its position`, async () => {
      const fault = await filterFault(filter)
      expect(fault).toMatchObject({ parameter: 'filter', code, offset, length })
      expect(fault.expected?.join(' ')).toContain(expected)
      expect(fault.message).not.toBe('')
      if (suggestion !== undefined) expect(fault.suggestion).toBe(suggestion)
    })
  }

  test('[F11] the offset is in the decoded filter', async () => {
    const fault = faultIn(await send(`${products}?filter=name%3D%22%C3%A4%22%26list_prise%3E10`))
    expect(fault).toMatchObject({ code: 'field_unknown', offset: 9, length: 10 })
  })

  test('[F11] an unknown field is reported with the nearest name and a corrected filter', async () => {
    const fault = await filterFault('list_prise>10')
    expect(fault).toMatchObject({ parameter: 'filter', code: 'field_unknown', offset: 0, length: 10 })
    expect(fault.message).toContain('list_prise')
    expect(decodeURIComponent(fault.suggestion ?? '')).toContain('list_price')
  })

  test('[F11] a suggestion is accepted, or there is none', async () => {
    expect((await filterFault('id[]')).suggestion).toBeUndefined()
    expect((await filterFault('nmae[]')).suggestion).toBe('name[""]')
    expect((await list(`${products}?filter=${encoded('name[""]')}`)).meta.total).toBe(0)
  })

  test('[F11] if no name is similar, none is suggested', async () => {
    expect((await filterFault('zzzzzzzz=1')).suggestion).toBeUndefined()
  })

  test('[F11] all unknown fields are reported at once', async () => {
    const response = await send(`${products}?filter=${encoded('nam=1|active=true&(list_prise>2|foo[1])')}`)
    const { errors } = problemIn(response, 400)
    expect(errors?.map(({ code, offset, length }) => [code, offset, length])).toEqual([
      ['field_unknown', 0, 3],
      ['field_unknown', 19, 10],
      ['field_unknown', 32, 3],
    ])
  })

  test('[F11] a value of the wrong type is reported at its position', async () => {
    expect(await filterFault('active=true&id=x1')).toMatchObject({
      code: 'value_not_for_type',
      offset: 15,
      length: 2,
    })
    expect(await filterFault('id[1,2,zz]')).toMatchObject({
      code: 'value_not_for_type',
      offset: 7,
      length: 2,
    })
  })

  test('[B1] an empty or blank filter is a 400', async () => {
    for (const query of ['filter=', 'filter=%20%20', 'filter=+', 'filter=&limit=2']) {
      expect(faultIn(await send(`${products}?${query}`)).code).toBe('filter_empty')
    }
  })
})
