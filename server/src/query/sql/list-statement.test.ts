import { describe, expect, it } from 'vitest'
import { withOwnFields } from '../../catalog/own-fields.ts'
import { resources } from '../../catalog/resources.ts'
import { limits } from '../../limits/limits.ts'
import { parseListRequest } from '../list-request.ts'
import { planList } from '../plan.ts'
import type { ListHints } from './access-path.ts'
import { listStatement } from './list-statement.ts'

/** The condition of a filter on products in the SQL text, and its values without account, threshold, limit and offset. */
function condition(filter: string): [string, unknown[]] {
  const raw = `fields=id&limit=7&filter=${encodeURIComponent(filter)}`
  const { text, values } = listStatement(
    { accountId: '12' },
    planList(resources.product, parseListRequest(raw, 'url')),
    1,
  )
  const found = /select count\(\*\) from product where account_id = \$1::bigint and (.*)\) end as total/.exec(
    text,
  )
  return [found?.[1] ?? text, values.slice(1, -4)]
}

describe('listStatement', () => {
  it('with a filter of unknown total, sorts the matches up to the threshold and scans the ids in order above it', () => {
    const plan = planList(resources.company, parseListRequest('fields=name&filter=id>5', 'url'))
    expect(listStatement({ accountId: '12' }, plan, 1)).toEqual({
      replicaText: expect.any(Function),
      operation: 'list',
      text: `with matches as materialized (
  select id from company where account_id = $1::bigint and (id > $2::bigint) limit $3::int + 1
), size as materialized (select count(*) as n from matches)
select encode(timestamptz_send(pg_postmaster_start_time()), 'hex') || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as epoch, t.version, t.xmin::text as xid, case when t.writer_xid = t.xmin then t.lineages[1] end as lineage, case when (select n from size) <= $3::int then (select n from size)
  else (select count(*) from company where account_id = $1::bigint and (id > $2::bigint)) end as total, p.count, p.records, p.last_id
from tally t
cross join (
  select count(*) as count, coalesce(string_agg('{"name":' || to_json(r.name)::text || '}', ',' order by r.id), '') as records,
    max(r.id) as last_id
  from (
    select r.* from (select id from matches order by id limit $4::int offset $5::bigint) wanted(wanted_id) cross join lateral (
    select id, name from company where account_id = $1::bigint and id = wanted_id offset 0) r where (select n from size) <= $3::int
    union all
    (    select id, name from company where account_id = $1::bigint and (id > $2::bigint)
      and (select n from size) > $3::int
    order by id limit $4::int offset $5::bigint)
  ) r
) p
where t.account_id = $1::bigint and t.resource = $6::text`,
      values: ['12', '5', 20000, 10, 0, 'company'],
    })
  })

  it('computes ETags with the lineage of the server that it runs on', () => {
    const plan = planList(resources.company, parseListRequest('fields=etag,id', 'url'))
    const { text, replicaText } = listStatement({ accountId: '12' }, plan, 1)
    expect(text).toContain('select id, version from company')
    expect(text).toContain(`'{"etag":' || '"\\"' || r.version || '-' || lpad(to_hex((select case when`)
    expect(text.match(/pg_postmaster_start_time/g)).toHaveLength(2)
    expect(replicaText()).toContain(
      `lpad(to_hex((select t.lineages[1] from tally t where t.account_id = $1::bigint and t.resource = `,
    )
    expect(replicaText()).not.toContain('pg_postmaster_start_time')
  })

  it('finds each disjunct by an index scan of its own', () => {
    const plan = planList(resources.product, parseListRequest('fields=id&filter=categ_id!=7', 'url'))
    expect(listStatement({ accountId: '12' }, plan, 1).text).toContain(
      `with matches as materialized (
  select id from (select id from product where account_id = $1::bigint and categ_id < $2::bigint union all select id from product where account_id = $1::bigint and categ_id > $3::bigint union all select id from product where account_id = $1::bigint and categ_id is null) m limit $4::int + 1
)`,
    )
  })

  it('without a filter takes the total from the tally', () => {
    const plan = planList(
      resources.company,
      parseListRequest('fields=name,create_date&page=3&limit=20', 'url'),
    )
    expect(listStatement({ accountId: '12' }, plan, 3)).toEqual({
      replicaText: expect.any(Function),
      operation: 'list',
      text: `select encode(timestamptz_send(pg_postmaster_start_time()), 'hex') || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as epoch, t.version, t.xmin::text as xid, t.total as total, p.count, p.records, p.last_id
from tally t
cross join (
  select count(*) as count, coalesce(string_agg('{"name":' || to_json(r.name)::text || ',"create_date":' || to_char(r.create_date at time zone 'UTC', '\\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\\"') || '}', ','), '') as records,
    max(r.id) as last_id
  from (
    select id, name, create_date from company where account_id = $1::bigint and ctid is not null
    order by id limit $2::int offset $3::bigint
  ) r
) p
where t.account_id = $1::bigint and t.resource = $4::text`,
      values: ['12', 20, 40, 'company'],
      execution: 'pipelined',
    })
  })

  it.each<[string, string, unknown[]]>([
    ['name=Bolt', 'name = $2::text', ['Bolt']],
    ['name=', 'name = $2::text', ['']],
    ['name!=Bolt', '(name < $2::text or name > $3::text)', ['Bolt', 'Bolt']],
    [
      'default_code!=A',
      '(default_code < $2::text or default_code > $3::text or default_code is null)',
      ['A', 'A'],
    ],
    ['default_code=null', '(false or default_code is null)', []],
    ['default_code="null"', 'default_code = $2::text', ['null']],
    ['default_code!=null', 'default_code is not null', []],
    ['name*50%_\\\\', 'name collate "default" ilike $2::text', ['%50\\%\\_\\\\%']],
    [
      'default_code!*x',
      '(default_code collate "default" not ilike $2::text or default_code is null)',
      ['%x%'],
    ],
    // Longer than any stored text.
    [`name*${'x'.repeat(2_000)}`, 'false', []],
    [`default_code!*${'x'.repeat(2_000)}`, '(default_code <> all($2::text[]) or default_code is null)', [[]]],
    ['list_price>10', '(list_price > $2::numeric)', ['10']],
    ['list_price<=1e-3', '(list_price <= $2::numeric)', ['1e-3']],
    ['categ_id[3,1,3]', 'categ_id = any($2::bigint[])', [['3', '1']]],
    ['categ_id[3,null]', '(categ_id = $2::bigint or categ_id is null)', ['3']],
    [
      'categ_id![30,4]',
      '(categ_id < $2::bigint or (categ_id > $3::bigint and categ_id < $4::bigint) or categ_id > $5::bigint or categ_id is null)',
      ['4', '4', '30', '30'],
    ],
    ['categ_id![4,null]', '(categ_id < $2::bigint or categ_id > $3::bigint)', ['4', '4']],
    ['categ_id![null]', 'categ_id is not null', []],
    ['active=true', 'active = $2::boolean', [true]],
    ['active!=true', 'active = $2::boolean', [false]],
    ['active![true,false]', 'false', []],
    [
      'is_rsd_product!=true',
      '((is_rsd_product = $2::boolean and is_rsd_product is not null) or is_rsd_product is null)',
      [false],
    ],
    [
      'create_date=2026-11-14',
      '((create_date >= $2::timestamptz and create_date < $3::timestamptz))',
      ['2026-11-14T00:00:00.000Z', '2026-11-15T00:00:00.000Z'],
    ],
    ['create_date>2026-11-14', '(create_date >= $2::timestamptz)', ['2026-11-15T00:00:00.000Z']],
    ['create_date<=2026-11-14', '(create_date < $2::timestamptz)', ['2026-11-15T00:00:00.000Z']],
    [
      'create_date![2026-11-15,2026-11-14]',
      '(create_date < $2::timestamptz or create_date >= $3::timestamptz)',
      ['2026-11-14T00:00:00.000Z', '2026-11-16T00:00:00.000Z'],
    ],
    [
      'active=true&(name=a|name=b)',
      '(active = $2::boolean and (name = $3::text or name = $4::text))',
      [true, 'a', 'b'],
    ],
  ])('%s', (filter, text, values) => {
    expect(condition(filter)).toEqual([text, values])
  })

  it('passes more than 16 excluded values as one array', () => {
    const excluded = Array.from({ length: 17 }, (_, i) => String(i))
    expect(condition(`categ_id![${excluded.join(',')}]`)).toEqual([
      '(categ_id <> all($2::bigint[]) or categ_id is null)',
      [excluded],
    ])
  })
})

describe('listStatement with hints', () => {
  const rows = (query: string, known: ListHints) => {
    const request = parseListRequest(`fields=id&${query}`, 'url')
    const plan = planList(resources.company, request)
    const { text, values } = listStatement({ accountId: '12' }, plan, request.page, known)
    return [/ {2}from \(\n([\s\S]*)\n {2}\) r/.exec(text)?.[1]?.replace(/\s+/g, ' ').trim(), values]
  }

  it('starts a page at the cached end of an earlier page', () => {
    expect(rows('page=7&limit=10', { total: 500, end: { rank: 60, id: '61' } })).toEqual([
      'select id from company where account_id = $1::bigint and id > $2::bigint order by id limit $3::int offset $4::bigint',
      ['12', '61', 10, 0, 'company'],
    ])
  })

  it('skips by id alone if the page is far from a cached end', () => {
    expect(rows('page=901&limit=1000', { total: 1e6, end: { rank: 100_000, id: '100000' } })).toEqual([
      'select r.* from ( select id from company where account_id = $1::bigint and id > $2::bigint order by id ' +
        'limit $3::int offset $4::bigint) wanted(wanted_id) cross join lateral ( ' +
        'select id from company where account_id = $1::bigint and id = wanted_id offset 0) r',
      ['12', '100000', 1000, 800000, 'company'],
    ])
  })

  it('sorts the matches below the threshold and scans the ids in order above it', () => {
    expect(rows('filter=name=a', { total: 20 })[0]).toBe(
      'select r.* from (select id from (select id from company where account_id = $1::bigint and name = $2::text) m order by id ' +
        'limit $3::int offset $4::bigint) wanted(wanted_id) cross join lateral ( ' +
        'select id from company where account_id = $1::bigint and id = wanted_id offset 0) r',
    )
    expect(rows('filter=name=a', { total: 20_001 })[0]).toBe(
      'select id from company where account_id = $1::bigint and name = $2::text order by id limit $3::int offset $4::bigint',
    )
  })

  it('uses one generic plan in small accounts, which does not read the trigram index of all accounts', () => {
    const small = (filter: string, more = '') => {
      const request = parseListRequest(`fields=id${more}&filter=${encodeURIComponent(filter)}`, 'url')
      return listStatement({ accountId: '12' }, planList(resources.company, request), 1, {
        isSmallAccount: true,
      })
    }
    expect(small('name=a')).toMatchObject({ execution: 'pipelined' })
    expect(small('name=a').text).toContain(`with matches as materialized (
  select id from company where account_id = $1::bigint and name = $2::text
)
select encode(timestamptz_send(pg_postmaster_start_time()), 'hex') || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as epoch, t.version, t.xmin::text as xid, (select count(*) from matches) as total`)
    expect(small('id>5&name*a').text).toContain(
      'and (id > $2::bigint) and (name collate "default" ilike $3::text) is true\n)',
    )
    expect(small('id=5|name*a').text).toContain(
      'and ((id = $2::bigint or name collate "default" ilike $3::text)) is true\n)',
    )
    for (const costly of [small('name*a'), small('name[a,b,c]&id[1,2]'), small('id=5', '&limit=101')]) {
      expect(costly.execution).toBe('generic')
    }
  })

  it('an ordered scan uses only indexes in order of ids', () => {
    const scanCondition = (filter: string) => {
      const [text] = rows(`filter=${encodeURIComponent(filter)}`, { total: 20_001 })
      return /and (.*) order by id/.exec(String(text))?.[1]
    }
    expect(scanCondition('name*a')).toBe(
      '(name collate "default" ilike $2::text) is true and ctid is not null',
    )
    expect(scanCondition('name=a&create_date>2026-01-01')).toBe(
      'name = $2::text and ((create_date >= $3::timestamptz)) is true',
    )
    expect(scanCondition('id>5&name[a,b]')).toBe(
      '(id > $2::bigint) and (name = any($3::text[])) is true and ctid is not null',
    )
    expect(scanCondition('id>5|name=a')).toBe('((id > $2::bigint) or name = $3::text) and ctid is not null')
  })

  it('an ordered scan has a generic plan, except if the id occurs in an "or"', () => {
    const executionOf = (filter: string) =>
      listStatement(
        { accountId: '12' },
        planList(resources.company, parseListRequest(`filter=${encodeURIComponent(filter)}`, 'url')),
        1,
        { total: 20_001 },
      ).execution
    expect(executionOf('name*a&create_date>2026-01-01')).toBe('generic')
    expect(executionOf('id>5|name=a')).toBeUndefined()
  })

  it('uses the table of values of declared fields up to a number of conditions', () => {
    const definition = { number: 3, name: 'x_color', type: 'text', label: '' } as const
    const own = withOwnFields(resources.product, '12.3', [definition])
    const textOf = (filter: string) => {
      const raw = `fields=id&limit=7&filter=${encodeURIComponent(filter)}`
      const values = { dense: new Set<string>() }
      return listStatement({ accountId: '12' }, planList(own, parseListRequest(raw, 'url')), 1, { values })
        .text
    }
    expect(textOf('x_color=red')).toContain('from product_value')
    expect(textOf('name=red')).not.toContain('product_value')
    const contains = (count: number) => Array.from({ length: count }, (_, i) => `x_color*${i}`).join('|')
    expect(textOf(contains(limits.filterDisjunctsMax))).toContain('from product_value')
    expect(textOf(contains(limits.filterDisjunctsMax + 1))).not.toContain('product_value')
    // A record without a value matches, and has no row.
    expect(textOf('x_color!=red&name=a')).not.toContain('product_value')
  })
})
