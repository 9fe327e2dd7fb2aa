import { describe, expect, it } from 'vitest'
import { resources } from '../catalog/resources.ts'
import { Failure, type Fault } from '../errors/errors.ts'
import { type ListSource, parseListRequest } from './list-request.ts'
import { planList } from './plan.ts'

function faultsOf(raw: string, source: ListSource = 'url'): readonly Fault[] {
  try {
    planList(resources.product, parseListRequest(raw, source))
    return []
  } catch (error) {
    if (error instanceof Failure) return error.faults
    throw error
  }
}

const short = ({ parameter, code, offset, length, suggestion }: Fault) => [
  parameter,
  code,
  offset,
  length,
  suggestion,
]

describe('faults of a list request', () => {
  it.each<[string, unknown[][]]>([
    ['filter=list_prise>10', [['filter', 'field_unknown', 0, 10, 'list_price>10']]],
    [
      'filter=nmae=x&(colour=red|actve=true)',
      [
        ['filter', 'field_unknown', 0, 4, 'name=x&(colour=red|active=true)'],
        ['filter', 'field_unknown', 8, 6, undefined],
        ['filter', 'field_unknown', 19, 5, 'name=x&(colour=red|active=true)'],
      ],
    ],
    ['fields=id,id,nane', [['fields', 'field_unknown', 6, 4, 'id,name']]],
    ['fields=id,nane', [['fields', 'field_unknown', 3, 4, 'id,name']]],
    ['fields=id,,name', [['fields', 'field_empty', 3, 0, 'id,name']]],
    ['filter=name>5', [['filter', 'operator_not_for_type', 4, 1, undefined]]],
    ['filter=active>true', [['filter', 'operator_not_for_type', 6, 1, undefined]]],
    ['filter=list_price*1', [['filter', 'operator_not_for_type', 10, 1, undefined]]],
    ['filter=list_price>ten', [['filter', 'value_not_for_type', 11, 3, undefined]]],
    ['filter=list_price>1e2000', [['filter', 'value_out_of_range', 11, 6, undefined]]],
    ['filter=list_price=.5', [['filter', 'value_not_for_type', 11, 2, undefined]]],
    ['filter=list_price=NaN', [['filter', 'value_not_for_type', 11, 3, undefined]]],
    ['filter=categ_id=1.0', [['filter', 'value_not_for_type', 9, 3, undefined]]],
    ['filter=id=9007199254740992', [['filter', 'value_out_of_range', 3, 16, undefined]]],
    ['filter=active=yes&name=x', [['filter', 'value_not_for_type', 7, 3, 'active=true&name=x']]],
    ['filter=name*', [['filter', 'value_empty', 5, 0, undefined]]],
    ['filter=list_price>null', [['filter', 'value_null_not_comparable', 11, 4, undefined]]],
    ['filter=name*null', [['filter', 'value_null_not_comparable', 5, 4, undefined]]],
    [
      'filter=write_date>2026-11-14T09:30:00+02:00',
      [['filter', 'value_not_for_type', 11, 25, 'write_date>2026-11-14T09:30:00+02:00']],
    ],
    [
      'filter=write_date>2026-11-14 09:30:00+02:00',
      [['filter', 'value_not_for_type', 11, 25, 'write_date>2026-11-14T09:30:00+02:00']],
    ],
    ['filter=list_price==10', [['filter', 'value_not_for_type', 11, 3, 'list_price=10']]],
    ['filter=list_price<>10', [['filter', 'value_not_for_type', 11, 3, 'list_price!=10']]],
    ["filter=list_price>'10'", [['filter', 'value_not_for_type', 11, 4, 'list_price>10']]],
    ["filter=name<>'M 8'", [['filter', 'operator_not_for_type', 4, 1, 'name!=M 8']]],
    ['filter=categ_id = NULL', [['filter', 'value_not_for_type', 11, 4, 'categ_id = null']]],
    [
      "filter=active=true and name like '%25bolt%25'",
      [['filter', 'value_not_for_type', 7, 27, 'active=true & name * bolt']],
    ],
    [
      'filter=list_price > = 5 OR id in (1,2)',
      [['filter', 'value_not_for_type', 13, 18, 'list_price >= 5 | id [1,2]']],
    ],
    // The translation would be invalid as well.
    ['filter=list_price==ten', [['filter', 'value_not_for_type', 11, 4, undefined]]],
    ['filter=active=true and nane=x', [['filter', 'value_not_for_type', 7, 15, undefined]]],
    ['filter=name=%00', [['filter', 'value_not_for_type', 5, 1, undefined]]],
    ['limit=1001', [['limit', 'limit_invalid', undefined, undefined, undefined]]],
    [
      'limit=0&page=0',
      [
        ['page', 'page_invalid', undefined, undefined, undefined],
        ['limit', 'limit_invalid', undefined, undefined, undefined],
      ],
    ],
    ['after_id=-1', [['after_id', 'after_id_invalid', undefined, undefined, undefined]]],
    ['max_id=9007199254740992', [['max_id', 'max_id_invalid', undefined, undefined, undefined]]],
    ['limit=1.5', [['limit', 'limit_invalid', undefined, undefined, undefined]]],
    ['page=%2B1', [['page', 'page_invalid', undefined, undefined, undefined]]],
    ['filter=', [['filter', 'filter_empty', 0, 0, undefined]]],
  ])('%s', (raw, expected) => {
    expect(faultsOf(raw).map(short)).toEqual(expected)
  })

  it('states the type of a field and its operators', () => {
    expect(faultsOf('filter=name>5')[0]).toMatchObject({
      message:
        '">" cannot be used with name, which is a text: its operators are = != * !* [] ![]. Text cannot be compared by order; use * to match a part of it.',
      expected: ['=', '!=', '*', '!*', '[]', '![]'],
    })
  })

  it('accepts a filter of at most 8 KB in a URL and 64 KB in a body', () => {
    const long = `filter=name=${'x'.repeat(9000)}`
    expect(faultsOf(long).map((fault) => fault.code)).toEqual(['filter_too_long'])
    expect(planList(resources.product, parseListRequest(long, 'body')).where).toBeDefined()
  })

  it.each([
    ['unknown fields', `fields=${'nane,'.repeat(50_000)}nane`],
    ['unknown fields of one letter', `fields=${'x,'.repeat(85_000)}x`],
    ['unknown parameters', 'x&'.repeat(130_000)],
    ['unknown fields of a filter', `filter=${'nane=1%26'.repeat(199)}nane=1`],
    ['values of another type', `filter=id[${'x,'.repeat(999)}x]`],
    ['values with a suggestion each', `filter=active[${'yes,'.repeat(999)}yes]`],
    ['a long text as a date', `filter=write_date>${'T'.repeat(65_000)}`],
    ['a long text as a date with spaces', `filter=write_date>${'T 02:00'.repeat(9_000)}`],
  ])('limits the number and size of the listed faults: %s', (_, raw) => {
    const began = process.cpuUsage()
    const faults = faultsOf(raw, 'body')
    // Linear time takes milliseconds; time quadratic in the length would take seconds to minutes.
    expect(process.cpuUsage(began).user / 1e6).toBeLessThan(3)
    expect(faults.length).toBeGreaterThan(0)
    expect(faults.length).toBeLessThanOrEqual(50)
    expect(Buffer.byteLength(JSON.stringify(faults))).toBeLessThan(60 * 1024)
  })
})
