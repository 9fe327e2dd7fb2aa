import { describe, expect, it } from 'vitest'
import { withOwnFields } from '../catalog/own-fields.ts'
import { resources } from '../catalog/resources.ts'
import { Failure, type Fault } from '../errors/errors.ts'
import { planSummary, summaryKey } from './summary-plan.ts'
import { parseSummaryRequest } from './summary-request.ts'

const own = withOwnFields(resources.product, '1', [
  { number: 1, name: 'x_weight', type: 'decimal', label: '' },
  { number: 2, name: 'x_checked', type: 'timestamp', label: '' },
])

const planOf = (query: string) => planSummary(own, parseSummaryRequest(query, 'url'))

function faultsOf(query: string): readonly Fault[] {
  try {
    planOf(query)
    return []
  } catch (error) {
    if (error instanceof Failure) return error.faults
    throw error
  }
}

interface Expected extends Partial<Omit<Fault, 'message'>> {
  readonly message?: RegExp
}

describe('a summary', () => {
  it.each([
    ['', ''],
    ['group=&sum=', ''],
    ['group=categ_id', 'categ_id'],
    ['group=active,create_date:month', 'active,create_date:month'],
    ['group=x_checked:week&avg=x_weight', 'x_checked:week,avg(x_weight)'],
    ['sum=qty_available,list_price&sum=', undefined],
    [
      'max=write_date,id&min=list_price&sum=qty_available',
      'sum(qty_available),min(list_price),max(write_date),max(id)',
    ],
    ['group=categ_id,categ_id&sum=id,id', 'categ_id,sum(id)'],
    ['group=name&filter=active=true&list_price>5&sum=id', 'name,sum(id)'],
  ])('%s', (query, key) => {
    if (key === undefined) expect(faultsOf(query)).toMatchObject([{ code: 'parameter_repeated' }])
    else expect(summaryKey(planOf(query))).toBe(key)
  })

  it('has the filter', () => {
    expect(planOf('sum=id').where).toBeUndefined()
    expect(planOf('filter=active=true&sum=id').where).toMatchObject({ kind: 'one-of', values: [true] })
  })

  it.each<[string, Expected]>([
    [
      'group=categ_idd',
      { parameter: 'group', code: 'field_unknown', offset: 0, length: 9, suggestion: 'categ_id' },
    ],
    ['group=active,create_dat', { code: 'field_unknown', offset: 7, suggestion: 'active,create_date:day' }],
    ['group=create_dat:mounth', { code: 'field_unknown', length: 10, suggestion: 'create_date:month' }],
    ['group=create_date', { code: 'group_unit_invalid', suggestion: 'create_date:day' }],
    ['group=create_date:', { code: 'group_unit_invalid', suggestion: 'create_date:day' }],
    ['group=create_date:year', { code: 'group_unit_invalid', suggestion: 'create_date:day' }],
    ['group=active,create_date:weeks', { offset: 7, length: 17, suggestion: 'active,create_date:week' }],
    ['group=categ_id:day', { code: 'group_unit_invalid', expected: ['categ_id'], suggestion: 'categ_id' }],
    ['group=create_date:day,create_date:month', { code: 'group_unit_invalid', offset: 16, length: 17 }],
    ['group=a,b,c', { parameter: 'group', code: 'summary_too_large' }],
    ['group=active,', { code: 'field_empty', offset: 7, length: 0, suggestion: 'active' }],
    ['group=etag', { code: 'field_not_for_summary', offset: 0, length: 4 }],
    ['sum=name', { parameter: 'sum', code: 'field_not_for_summary', offset: 0, length: 4 }],
    ['sum=qty_available, list_price', { code: 'field_unknown', suggestion: 'qty_available,list_price' }],
    [
      'sum=create_date',
      { code: 'field_not_for_summary', message: /needs a number; create_date is a timestamp/ },
    ],
    ['avg=active', { parameter: 'avg', code: 'field_not_for_summary' }],
    ['max=name', { parameter: 'max', message: /needs a number or a timestamp; name is a text/ }],
    ['min=list_pric', { code: 'field_unknown', expected: ['list_price'], suggestion: 'list_price' }],
    ['sum=xyzzy', { code: 'field_unknown', message: /^A product has no field "xyzzy"\. It accepts id, / }],
    ['filter=nane=Bolt', { parameter: 'filter', code: 'field_unknown', suggestion: 'name=Bolt' }],
    ['filter=active', { parameter: 'filter' }],
    ['fields=id', { parameter: 'fields', code: 'parameter_unknown' }],
    ['limit=5', { parameter: 'limit', code: 'parameter_unknown' }],
    [`sum=${Array.from({ length: 21 }, (_, i) => `f${i}`).join()}`, { code: 'summary_too_large' }],
    [`sum=id&avg=${Array.from({ length: 20 }, (_, i) => `f${i}`).join()}`, { parameter: 'avg' }],
  ])('%s is rejected', (query, { message, ...fault }) => {
    const faults = faultsOf(query)
    expect(faults).toMatchObject([fault])
    if (message !== undefined) expect(faults[0]?.message).toMatch(message)
  })

  it('has all faults at once, and every suggestion is accepted', () => {
    const faults = faultsOf('group=categ_idd,create_date&sum=list_pric&filter=nane=Bolt')
    expect(faults.map(({ parameter, code }) => `${parameter} ${code}`)).toEqual([
      'group field_unknown',
      'group group_unit_invalid',
      'sum field_unknown',
      'filter field_unknown',
    ])
    const corrected = faults.map(({ parameter, suggestion }) => `${parameter}=${suggestion}`)
    expect([...new Set(corrected)].toSorted()).toEqual([
      'filter=name=Bolt',
      'group=categ_id,create_date:day',
      'sum=list_price',
    ])
    expect(faultsOf([...new Set(corrected)].join('&'))).toEqual([])
  })
})
