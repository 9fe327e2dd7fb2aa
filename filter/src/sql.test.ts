import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FilterError } from './error.ts'
import { parse } from './parse.ts'
import { print } from './print.ts'
import { fromSql } from './sql.ts'

function suggestionFor(text: string): string | undefined {
  try {
    parse(text)
  } catch (error) {
    if (error instanceof FilterError) return error.problem.suggestion
    throw error
  }
  throw new Error(`"${text}" was parsed without an error.`)
}

describe('the suggestion for a filter written as in SQL or OData', () => {
  it.each([
    ["name like '%bolt%' and list_price gt 10", 'name * bolt & list_price > 10'],
    ["name ILIKE 'bolt%' AND active = TRUE", 'name * bolt & active = true'],
    ['name like %bolt', 'name * bolt'],
    ["name contains '50%'", 'name * 50%'],
    ["name not like '%bolt%'", 'name !* bolt'],
    ["contains(name,'hex bolt') and list_price ge 3", 'name*hex bolt & list_price >= 3'],
    ["not contains(name, '(') or id lt 5", 'name!*"(" | id < 5'],
    ['id eq 1 or id ne 2', 'id = 1 | id != 2'],
    ['a gte 1 && b lte 2 || c lt 3', 'a >= 1 & b <= 2 | c < 3'],
    ['a==1 && b<>2', 'a=1 & b!=2'],
    ['a => 1 && b =< 2 && c ! = 3 && d > = 4', 'a >= 1 & b <= 2 & c != 3 & d >= 4'],
    ['id in (1, 2)', 'id [1, 2]'],
    ["name not in('a','b, c',NULL)", 'name ![a,"b, c",null]'],
    ['id IN [1,2] and x[3]', 'id [1,2] & x[3]'],
    ['name is null', 'name = null'],
    ['name IS NOT NULL and active is true', 'name != null & active = true'],
    ['not name is null', 'name != null'],
    ['not price > 5 and not x in (1)', 'price <= 5 & x ![1]'],
    ['price between 1 and 5 and x=2', 'price >= 1 & price <= 5 & x=2'],
    ["d not between '2026-01-01' and '2026-02-01'", '(d < 2026-01-01 | d > 2026-02-01)'],
    ["(name='a' or name='b') and id eq 1", '(name=a | name=b) & id = 1'],
    ["where active=true and (price lt 5 or name='O''Brien'", "active=true & (price < 5 | name=O'Brien)"],
    ['`name`=\'R&D\' and "id" = 3', 'name="R&D" & id = 3'],
    // A word in a bare value stays if no condition follows it.
    ['name=salt and pepper&price gt 5', 'name=salt and pepper&price > 5'],
    ["name='tis the season&price gt 5", "name='tis the season&price > 5"],
    ['name="x and y=1" and price gt 5', 'name="x and y=1" & price > 5'],
    ['name=a\\&b and (x=f(1) or y gt 2) && z=1', 'name=a\\&b & (x=f(1) | y > 2) & z=1'],
  ])('%s', (text, suggestion) => {
    expect(suggestionFor(text)).toBe(suggestion)
  })

  it.each([
    'not (a=1)',
    'not not a eq 1',
    "name like 'a%b'",
    "name like 'a_b'",
    "name like '%'",
    'id in ()',
    'id in (1',
    'id in (1,f(2))',
    'id in 1',
    'name is bolt',
    'price between 5',
    'price gt',
    'name like "bolt',
    'price 10 and id gt 1',
    "name startswith 'bolt'",
    'select name from product',
    `${'('.repeat(33)}a gt 1`,
  ])('is not guessed: %s', (text) => {
    expect(suggestionFor(text)).toBeUndefined()
  })

  it('keeps the offset, length and expectation of the error', () => {
    const text = "id=1&name like '%bolt%' and list_price gt 10"
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        problem: expect.objectContaining({
          code: 'filter_operator_expected',
          offset: 10,
          length: 4,
          expected: ['"="', '"!="', '"*"', '"!*"', '">"', '">="', '"<"', '"<="', '"["', '"!["'],
        }),
      }),
    )
  })
})

describe('fromSql', () => {
  it('translates filters that are valid, but were probably not meant so', () => {
    expect(fromSql("name='bolt'")).toBe('name=bolt')
    expect(fromSql('name=bolt and active=true')).toBe('name=bolt & active=true')
    expect(fromSql('name==bolt')).toBe('name=bolt')
  })

  it.each(['name=bolt', 'a=1&(b=2|c*"x")', 'name=salt and pepper', "name=it's", 'a[1,2]&b![null]', ''])(
    'has nothing to translate in %s',
    (text) => {
      expect(fromSql(text)).toBeUndefined()
    },
  )
})

/** The same conditions in both languages. */
const value = fc.oneof(
  fc.stringMatching(/^[a-z0-9][a-z0-9 ]{0,6}[a-z0-9]$/),
  fc.string({ unit: fc.constantFrom(...Array.from(`a1 '"&|(),[]=<>!*é`)), minLength: 1 }),
)
const sqlText = (text: string) => `'${text.replaceAll("'", "''")}'`
const field = fc.constantFrom('name', 'price', '_x1')
const filterText = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
const condition = fc.oneof(
  fc
    .tuple(
      field,
      fc.constantFrom(['=', '='], ['eq', '='], ['<>', '!='], ['ne', '!='], ['gt', '>'], ['le', '<=']),
      value,
    )
    .map(([name, [sql, own], text]) => [
      `${name} ${sql} ${sqlText(text)}`,
      `${name}${own}${filterText(text)}`,
    ]),
  fc
    .tuple(field, value)
    .map(([name, text]) => [`${name} LIKE ${sqlText(`%${text}%`)}`, `${name}*${filterText(text)}`]),
  fc
    .tuple(field, fc.array(value, { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([name, list, negated]) => [
      `${name} ${negated ? 'NOT IN' : 'in'} (${list.map(sqlText).join(', ')})`,
      `${name}${negated ? '!' : ''}[${list.map(filterText).join(',')}]`,
    ]),
  field.map((name) => [`${name} IS NOT NULL`, `${name}!=null`]),
)

const { both } = fc.letrec<{ both: string[] }>((tie) => ({
  both: fc.oneof(
    { maxDepth: 3 },
    condition,
    fc
      .tuple(tie('both'), fc.constantFrom(['and', '&'], ['OR', '|'], ['&&', '&'], ['||', '|']), tie('both'))
      .map(([left, join, right]) => [
        `(${left[0]}) ${join[0]} (${right[0]})`,
        `(${left[1]})${join[1]}(${right[1]})`,
      ]),
  ),
}))

it('translates any such condition to the same filter in the filter language', () => {
  fc.assert(
    fc.property(both, ([sql = '', own = '']) => {
      expect(print(parse(fromSql(sql) ?? sql))).toBe(print(parse(own)))
    }),
    { numRuns: 3000 },
  )
})

it('suggests only valid filters for any sequence of words and symbols', () => {
  const words =
    'a b = == <> > = not and or && | like in is null between contains ( ) , \' " % 1 \\ TRUE [ ] where `'
  const part = fc.constantFrom(' ', '> =', ...words.split(' '))
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const text = parts.join('')
      const translated = fromSql(text)
      if (translated !== undefined) expect(translated).not.toBe(text)
      try {
        parse(text)
      } catch (error) {
        if (!(error instanceof FilterError)) throw error
        const { suggestion } = error.problem
        if (suggestion !== undefined) expect(() => parse(suggestion)).not.toThrow()
      }
    }),
    { numRuns: 20_000 },
  )
})

it('takes time linear in the length of the text', () => {
  for (const part of [
    ' and a',
    ' and not',
    ' and (',
    "'",
    'a gt 1 and ',
    ' or contains(',
    'a in (',
    '1,',
    '\\ ',
  ])
    for (const start of ['', 'a=', 'a in (', 'a gt 1 and b="', "a like '"]) {
      const text = (start + part.repeat(4096)).slice(0, 4096)
      const began = process.cpuUsage()
      fromSql(text)
      // Linear time takes below a millisecond; time quadratic in 4,096 characters would take longer than all other tests.
      expect(process.cpuUsage(began).user / 1e3).toBeLessThan(500)
    }
})
