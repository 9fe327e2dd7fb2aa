import { parse } from '@quartermaster/filter'
import { describe, expect, it } from 'vitest'
import { evaluate } from './evaluate.ts'
import { type PlainRecord, resources } from './schema.ts'

const base: PlainRecord = {
  id: '1',
  name: 'Hex bolt',
  default_code: null,
  list_price: '12.5',
  qty_available: '0',
  active: true,
  categ_id: null,
  product_tmpl_id: '7',
  is_rsd_product: null,
  create_date: '2026-11-14T09:30:00.000Z',
  write_date: '2026-11-14T09:30:00.000Z',
}

const big = '123456789012345678901234.000000000001'
const records: readonly PlainRecord[] = [
  base,
  { ...base, id: '2', name: '100% a_b\\c', default_code: 'A-1', categ_id: '3', is_rsd_product: false },
  { ...base, id: '3', name: '', default_code: '', list_price: big, categ_id: '-3', is_rsd_product: true },
  { ...base, id: '4', name: 'null', default_code: 'null', list_price: '-0.000000000001', active: false },
  {
    ...base,
    id: '5',
    name: 'ΟΔΟΣ İx',
    create_date: '0001-01-01T00:00:00.000Z',
    qty_available: '9007199254740993',
  },
  { ...base, id: '6', name: 'a&b|c,d]e)"f"', create_date: '9999-12-31T23:59:59.999Z' },
  { ...base, id: '7', name: 'hex BOLT', create_date: '2026-11-14T09:30:00.001Z', product_tmpl_id: null },
]

const ids = (filter: string) =>
  evaluate(parse(filter), resources.product, records).map((record) => Number(record['id']))

describe('the evaluator', () => {
  it.each<[filter: string, ids: number[]]>([
    // `=` compares text exactly, `*` ignores case.
    ['name=Hex bolt', [1]],
    ['name=hex bolt', []],
    ['name=', [3]],
    ['name=""', [3]],
    ['name*hex', [1, 7]],
    ['name*BOLT', [1, 7]],
    ['name*%', [2]],
    ['name*_', [2]],
    ['name*\\\\', [2]],
    ['name*a_B', [2]],
    ['name!*o', [2, 3, 4, 5, 6]], // Ο is a Greek letter
    ['name*"&b|"', [6]],
    ['name*a\\&b\\|c', [6]],
    ['name*Σ', [5]],
    ['name*σ', [5]],
    ['name*ς', []],
    ['name*ix', [5]],
    ['name*"i\u0307x"', []],
    ['name[Hex bolt,null]', [1]],
    ['name["Hex bolt","null"]', [1, 4]],
    ['name!["Hex bolt",hex BOLT,""]', [2, 4, 5, 6]],
    // Null is a value; negated operators match it.
    ['default_code=null', [1, 5, 6, 7]],
    ['default_code="null"', [4]],
    ['default_code=\\null', [4]],
    ['default_code!=null', [2, 3, 4]],
    ['default_code!=A-1', [1, 3, 4, 5, 6, 7]],
    ['default_code*A', [2]],
    ['default_code!*A', [1, 3, 4, 5, 6, 7]],
    ['default_code[A-1,null]', [1, 2, 5, 6, 7]],
    ['default_code![A-1,null]', [3, 4]],
    ['default_code![A-1]', [1, 3, 4, 5, 6, 7]],
    ['name=null', []],
    ['name!=null', [1, 2, 3, 4, 5, 6, 7]],
    ['categ_id>0', [2]],
    ['categ_id<=3', [2, 3]],
    ['categ_id!=3', [1, 3, 4, 5, 6, 7]],
    ['is_rsd_product=null', [1, 4, 5, 6, 7]],
    ['is_rsd_product!=true', [1, 2, 4, 5, 6, 7]],
    ['is_rsd_product[true,null]', [1, 3, 4, 5, 6, 7]],
    ['active=false', [4]],
    ['active![true,false]', []],
    // Numbers are exact.
    ['list_price=12.50', [1, 2, 5, 6, 7]],
    ['list_price=1.25e1', [1, 2, 5, 6, 7]],
    ['list_price=125E-1', [1, 2, 5, 6, 7]],
    ['list_price<0', [4]],
    ['list_price>=-0.000000000001&list_price<-0', [4]],
    ['list_price>123456789012345678901234', [3]],
    ['list_price<=123456789012345678901234.000000000000999', [1, 2, 4, 5, 6, 7]],
    ['qty_available>9007199254740992', [5]],
    ['qty_available=-0', [1, 2, 3, 4, 6, 7]],
    ['qty_available>1e-300', [5]],
    // A timestamp literal names a span of time.
    ['create_date=2026-11-14', [1, 2, 3, 4, 7]],
    ['create_date=2026-11-14T09:30:00', [1, 2, 3, 4, 7]],
    ['create_date=2026-11-14T09:30:00.000Z', [1, 2, 3, 4]],
    ['create_date=2026-11-14T10:30:00.001+01:00', [7]],
    ['create_date!=2026-11-14', [5, 6]],
    ['create_date>2026-11-14T09:30:00.000', [6, 7]],
    ['create_date>2026-11-14', [6]],
    ['create_date>=2026-11-14', [1, 2, 3, 4, 6, 7]],
    ['create_date<2026-11-14T09:30', [5]],
    ['create_date<=2026-11-14T09:30', [1, 2, 3, 4, 5, 7]],
    ['create_date[0001-01-01,9999-12-31]', [5, 6]],
    ['create_date<=9999-12-31', [1, 2, 3, 4, 5, 6, 7]],
    // & binds tighter than |.
    ['id=1|id=2&active=false', [1]],
    ['(id=1|id=4)&active=false', [4]],
  ])('evaluates %s', (filter, expected) => {
    expect(ids(filter)).toEqual(expected)
  })

  it.each(['name>a', 'name*', 'list_price=.5', 'active=yes', 'nothing=1', 'create_date=2023-02-29'])(
    'throws for %s',
    (filter) => expect(() => ids(filter)).toThrow(),
  )
})
