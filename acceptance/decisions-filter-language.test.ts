import { describe, expect, test } from 'vitest'
import { companies, filterFault, idsOf, partners } from './client.ts'

const all = [...Array.from({ length: 29 }, (_, i) => i + 1), 42]
const allBut = (...ids: readonly number[]) => all.filter((id) => !ids.includes(id))

describe('F1: precedence and grouping', () => {
  test('[F1] & binds tighter than |, unless parentheses group otherwise', async () => {
    expect(await idsOf('categ_id=8|categ_id=13&active=false')).toEqual([4, 5, 6, 25])
    expect(await idsOf('(categ_id=8|categ_id=13)&active=false')).toEqual([6, 25])
    expect(await idsOf('active=false&(categ_id=8|categ_id=13)')).toEqual([6, 25])
    expect(await idsOf('((id=1|(id=2&(active=true))))')).toEqual([1, 2])
  })

  test('[F1] spaces around conditions, operators and values are ignored', async () => {
    expect(await idsOf('  ( id = 1 | id = 2 )  &  name * M10 ')).toEqual([2])
    expect(await idsOf('id [ 1 , 2 ]')).toEqual([1, 2])
  })
})

describe('F2: reserved characters in a value', () => {
  for (const [filter, found] of [
    ['name="Nuts & bolts"', [10]],
    ['name=Nuts \\& bolts', [10]],
    ['default_code="N&B"|default_code=PT\\|1', [10, 12]],
    ['name="Pipe|tee (brass)"', [12]],
    ['name=Pipe\\|tee (brass)', [12]],
    ['(name=Pipe\\|tee \\(brass\\))', [12]],
    ['(name="Pipe|tee (brass)")', [12]],
    ['name="\\"Quoted\\" gauge"', [11]],
    ['name=\\"Quoted\\" gauge', [11]],
    ['name="C:\\\\tools\\\\saw"', [9]],
    ['name=C:\\\\tools\\\\saw', [9]],
    ['name["Screws, assorted [box]",x]', [13]],
    ['name[Screws\\, assorted [box\\],x]', [13]],
    ['name=Screws, assorted [box]', [13]],
    ['name=a=b>c<d!e*f', [24]],
    ['name="a=b>c<d!e*f"', [24]],
    ['name="Two  spaces"', [23]],
    ['name=Two  spaces', [23]],
    ['name="  Gold reserve  "', []],
    ['name=   Gold reserve   ', [20]],
  ] as const) {
    test(`[F2] ${filter}`, async () => {
      expect(await idsOf(filter)).toEqual(found)
    })
  }

  test('[F2] quotes work with every operator and type', async () => {
    expect(await idsOf('name*"&"')).toEqual([10])
    expect(await idsOf('name!*"o"&name!*"e"')).toEqual([15, 17, 22, 27])
    expect(await idsOf('id["1","42"]')).toEqual([1, 42])
    expect(await idsOf('list_price>="100"')).toEqual([5, 20, 25])
    expect(await idsOf('active="false"')).toEqual([6, 22, 25])
  })
})

describe('F3: null', () => {
  for (const [filter, found] of [
    ['default_code=null', [21]],
    ['default_code!=null', allBut(21)],
    ['default_code="null"', [17]],
    ['default_code=nul\\l', [17]],
    ['default_code[null,MIX]', [21, 28]],
    ['default_code![null,MIX]', allBut(21, 28)],
    ['categ_id=null', [21]],
    ['categ_id[null,13]', [21, 25]],
    ['is_rsd_product=null&id<6', [1, 5]],
    ['is_rsd_product!=null', [2, 3, 4, 25, 42]],
    ['name=null', []],
    ['name="null"', [17]],
  ] as const) {
    test(`[F3] ${filter}`, async () => {
      expect(await idsOf(filter)).toEqual(found)
    })
  }

  test('[F3] != also matches records whose field is null', async () => {
    expect(await idsOf('is_rsd_product!=true&id<6')).toEqual([1, 3, 4, 5])
    expect(await idsOf('categ_id!=7&id>=20')).toEqual([20, 21, 22, 23, 24, 25, 26, 27, 28, 29])
    expect(await idsOf('default_code!=MIX')).toEqual(allBut(28))
  })

  test('[F3] !* also matches records whose field is null', async () => {
    expect(await idsOf('default_code!*-&id>=17')).toEqual([17, 18, 19, 20, 21, 22, 23, 24, 28, 29])
    expect(await idsOf('email!*example', partners)).toEqual([5, 12, 13, 14, 15, 16, 17, 18])
  })

  test('[F3] ![] also matches records whose field is null', async () => {
    expect(await idsOf('company_code![QMH,QST]', companies)).toEqual([2, 3, 4, 5])
    expect(await idsOf('is_rsd_product![false]&id<6')).toEqual([1, 2, 5])
  })

  test('[F3] null cannot be compared or searched for', async () => {
    for (const filter of [
      'list_price>null',
      'categ_id<=null',
      'create_date<null',
      'name*null',
      'name!*null',
    ]) {
      expect((await filterFault(filter)).code).toBe('value_null_not_comparable')
    }
  })
})

describe('F4: contains', () => {
  test('[F4] is case-insensitive in every script', async () => {
    for (const part of ['hex', 'HEX', 'Hex', 'hEx'])
      expect(await idsOf(`name*${part}`)).toEqual([1, 2, 3, 4, 42])
    for (const part of ['café', 'CAFÉ', 'fé']) expect(await idsOf(`name*${part}`)).toEqual([26, 27])
    for (const part of ['größe', 'GRÖ', 'ä']) expect(await idsOf(`name*${part}`)).toEqual([14])
    expect(await idsOf('name!*HEX&id<6')).toEqual([5])
  })

  test('[F4] %, _ and \\ are ordinary characters', async () => {
    expect(await idsOf('name*%')).toEqual([5, 28])
    expect(await idsOf('name*10%')).toEqual([5])
    expect(await idsOf('name*_')).toEqual([7, 28])
    expect(await idsOf('name*e_c')).toEqual([7])
    expect(await idsOf('name*"\\\\"')).toEqual([9, 28])
    expect(await idsOf('name*\\\\')).toEqual([9, 28])
    expect(await idsOf('name*"%_\\\\ mix"')).toEqual([28])
    expect(await idsOf('name!*%&id>=26')).toEqual([26, 27, 29, 42])
    expect(await idsOf('name*H%8')).toEqual([])
  })

  test('[F4] matches parts of any length: one character, an emoji, other scripts', async () => {
    expect(await idsOf('name*螺')).toEqual([15])
    expect(await idsOf('name*🔩')).toEqual([16])
    expect(await idsOf('name*×')).toEqual([42])
    expect(await idsOf('name*太', partners)).toEqual([19])
    expect(await idsOf('name*q')).toEqual([11])
  })

  test('[F4] is for text fields only', async () => {
    for (const filter of ['list_price*1', 'id!*1', 'active*true', 'create_date*2026', 'is_rsd_product*t']) {
      expect((await filterFault(filter)).code).toBe('operator_not_for_type')
    }
  })

  test('[F4] an empty text is a 400', async () => {
    for (const filter of ['name*', 'name*""', 'name!*', 'name!*""', 'name*  ']) {
      expect((await filterFault(filter)).code).toBe('value_empty')
    }
  })
})

describe('F5: equals on text', () => {
  test('[F5] is exact and case-sensitive', async () => {
    expect(await idsOf('name=Hex bolt M8')).toEqual([1])
    expect(await idsOf('name=hex bolt m8')).toEqual([])
    expect(await idsOf('name=Hex bolt')).toEqual([])
    expect(await idsOf('name=CAFÉ table')).toEqual([26])
    expect(await idsOf('name=Café table')).toEqual([])
    expect(await idsOf('name!=hex bolt m8')).toEqual(all)
    expect(await idsOf('default_code[mix,Mix,MIX]')).toEqual([28])
  })

  test('[F5] a missing value after = is the empty text', async () => {
    expect(await idsOf('name=')).toEqual([])
    expect(await idsOf('company_code=', companies)).toEqual([3])
    expect(await idsOf('company_code=""', companies)).toEqual([3])
    expect(await idsOf('company_code!=', companies)).toEqual([1, 2, 4, 5, 42])
  })

  test('[F5] digits are text in a text field', async () => {
    expect(await idsOf('branch_user=417', companies)).toEqual([5])
    expect(await idsOf('branch_user=00417', companies)).toEqual([42])
    expect(await idsOf('name=true')).toEqual([18])
  })
})
