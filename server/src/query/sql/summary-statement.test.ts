import { expect, it } from 'vitest'
import { withOwnFields } from '../../catalog/own-fields.ts'
import { resources } from '../../catalog/resources.ts'
import { planSummary } from '../summary-plan.ts'
import { parseSummaryRequest } from '../summary-request.ts'
import { groupCountStatement, summaryStatement } from './summary-statement.ts'

const own = withOwnFields(resources.product, '1', [
  { number: 7, name: 'x_sold', type: 'timestamp', label: '' },
  { number: 8, name: 'x_weight', type: 'decimal', label: '' },
])
const planOf = (query: string) => planSummary(own, parseSummaryRequest(query, 'url'))
const statementOf = (query: string) =>
  summaryStatement({ accountId: '5' }, planOf(query), { isSmallAccount: false })

it('reads tally and groups in one statement', () => {
  const { text, values, execution } = statementOf('group=categ_id&sum=qty_available&filter=active=true')
  expect(text.replace(/select encode.*? as xid/s, 'select STATE')).toMatchInlineSnapshot(`
    "with groups as materialized (
      select g0, count(*) as n, coalesce(sum(v0), 0) as m0
      from (select categ_id as g0, qty_available as v0 from product where account_id = $1::bigint and (active = $2::boolean)) r group by g0 limit $3::int + 1
    )
    select STATE, (select count(*) from groups) as count, (select coalesce(sum(n), 0) from groups) as total,
      (select coalesce(string_agg('{"group":' || '{' || '"categ_id":' || coalesce(g0::text, 'null') || '}' || ',"count":' || n || ',"sum":' || '{' || '"qty_available":' || trim_scale(m0)::text || '}' || '}', ',' order by g0), '') from groups) as records, case when t.writer_xid = t.xmin then t.lineages[1] end as lineage, (select '[' || coalesce(string_agg('[' || coalesce(g0::text, 'null') || ',' || n || ',' || m0 || ']', ','), '') || ']' from groups) as groups
    from tally t where t.account_id = $1::bigint and t.resource = $4::text"
  `)
  expect(values).toMatchInlineSnapshot(`
    [
      "5",
      true,
      1000,
      "product",
    ]
  `)
  expect(execution).toBeUndefined()
})

it('has neither values nor names of a client in its text', () => {
  const query = `group=x_sold:week,name&avg=x_weight&max=x_sold&filter=${encodeURIComponent('name="\'; drop"|x_weight>4711')}`
  const { text, values } = statementOf(query)
  expect(text).not.toMatch(/x_sold|x_weight|drop|4711|week/)
  expect(values).toEqual(expect.arrayContaining(['week', '7', '8', '"x_sold":', '"x_weight":', '4711']))
})

it('has one plan for all small accounts', () => {
  const plan = planOf('group=active&filter=name*bolt')
  const { text, execution } = summaryStatement({ accountId: '5' }, plan, { isSmallAccount: true })
  expect(execution).toBe('generic')
  expect(text).toContain(') is true')
})

it('names the account in every part', () => {
  for (const { text, values } of [
    statementOf('group=active&filter=name*bolt|categ_id!=7'),
    groupCountStatement({ accountId: '5' }, planOf('group=active&filter=name*bolt')),
  ]) {
    const tables = text.match(/from (?:product|tally)\b/g) ?? []
    const accounts = text.match(/account_id = \$1::bigint/g) ?? []
    expect(tables.length).toBeGreaterThan(0)
    expect(accounts.length).toBe(tables.length)
    expect(values[0]).toBe('5')
  }
})

it('carries what is cached, and counts only if that is not possible', () => {
  const cached = { lineage: '77', version: '12', groups: '[[7,3,1.5]]' }
  const plan = planOf('group=categ_id&sum=qty_available&filter=active=true')
  const { text, values } = summaryStatement({ accountId: '5' }, plan, { isSmallAccount: false, cached })
  expect(text).toMatch(
    / from product where account_id = \$2::bigint and \(active = \$\d+::boolean\) and not \(select valid from carry\)\) r/,
  )
  expect(values).toEqual(expect.arrayContaining(['77', '12', '[[7,3,1.5]]']))
})

it.each([
  ['group=name&sum=id&avg=list_price', true],
  ['', true],
  ['max=list_price', false],
])('%s returns what can be carried: %s', (query, canBe) => {
  expect(/ as groups\nfrom tally t /.test(statementOf(query).text)).toBe(canBe)
})
