import { hash } from 'node:crypto'
import { expect, it } from 'vitest'
import { withOwnFields } from '../catalog/own-fields.ts'
import { type Resource, resources } from '../catalog/resources.ts'
import * as imports from '../import/statements.ts'
import { parseExportRequest, parseListRequest } from '../query/list-request.ts'
import { planList } from '../query/plan.ts'
import type { ListHints } from '../query/sql/access-path.ts'
import { changesStatement } from '../query/sql/changes-statement.ts'
import { exportStatement } from '../query/sql/export-statement.ts'
import { listStatement } from '../query/sql/list-statement.ts'
import { recordsStatement } from '../query/sql/record-statement.ts'
import { sql, value } from '../sql.ts'
import { insertAllStatement, insertStatement } from '../writes/create-statements.ts'
import { insertImages, journaledDelete } from '../writes/journal.ts'

/** An account that declares no fields has the statements that it had before there were any. */

const scope = { accountId: '7' }
const start = { id: '0', rank: 0 }
const hints: readonly ListHints[] = [
  {},
  { isSmallAccount: true },
  { total: 5 },
  { total: 50_000, end: { id: '9', rank: 10 } },
  { carry: { lineage: '1', version: '2', start, safeStart: start } },
]
const filters = ['', 'name*bolt', 'name!=a', 'name[a,b]|id>3', 'create_date<2026-11-14&name=x', 'name!*a']

function texts(resource: Resource): string[] {
  const lists = filters.flatMap((filter) => {
    const raw = filter === '' ? '' : `filter=${encodeURIComponent(filter)}`
    const plan = planList(resource, parseListRequest(raw, 'url'))
    const named = planList(resource, parseListRequest(`fields=name,id&${raw}`, 'url'))
    const all = planList(resource, parseExportRequest(raw, 'url'))
    return [
      ...hints.flatMap((one) => [1, 500].map((page) => listStatement(scope, plan, page, one))),
      listStatement(scope, named, 1),
      changesStatement(scope, plan, { version: '1', id: '2', base: '3' }),
      changesStatement(scope, named, { version: '1', id: '2', base: '3' }),
      ...(['ndjson', 'csv', 'spreadsheet'] as const).map((format) => exportStatement(scope, all, format)),
    ]
  })
  const create = { scope, author: 'b7TqM2vc', values: new Map([['name', 'x']]), recordsMax: 10 }
  const deletion = journaledDelete(
    value('7'),
    resource,
    { version: value('8'), author: value('b7TqM2vc') },
    sql`true`,
  )
  return [
    ...lists,
    recordsStatement(resource, [{ accountId: '7', id: '1' }]),
    insertStatement(resource, create),
    insertAllStatement(resource, [create, create]),
    insertImages(value('7'), resource, value('8'), sql`before`).statement(),
    sql`with ${deletion} select`.statement(),
    ...imports.temporaryTables(resource),
    imports.copyRecords(resource),
    imports.storedCells(scope, resource, ['1']),
  ].map(({ text }) => text)
}

it('without fields of the account, the texts of statements are those of the version before', () => {
  const all = Object.values(resources).flatMap(texts)
  expect(all.length).toBeGreaterThan(250)
  expect(all.filter((text) => /\bcustom\b/.test(text))).toEqual([])
  expect(hash('sha256', all.join('\n'), 'hex')).toBe(
    '30d64dce0112fc736ef130db766d226f817a7ab2f7c5eb6f1d9351df51a53ca6',
  )
})

it('with fields of the account, the names and numbers of the fields are no part of a text', () => {
  const types = ['text', 'integer', 'decimal', 'boolean', 'timestamp'] as const
  const definitions = types.map((type, i) => ({ number: 900 + i, name: `x_secret${i}`, type, label: '' }))
  const own = withOwnFields(resources.product, '7.1', definitions)
  const all = texts(own)
  expect(all.filter((text) => /\bcustom\b/.test(text)).length).toBeGreaterThan(50)
  expect(all.filter((text) => text.includes('x_secret'))).toEqual([])
  // The columns of a CSV need names of their own. The account is the first parameter of an export.
  for (const text of all.filter((one) => one.startsWith('copy (')))
    expect(text).toMatch(
      /^copy \(with r as not materialized \(select \* from \w+ where account_id = \$1::bigint/,
    )
  expect(all.filter((text) => /90[0-4]/.test(text) && !text.startsWith('copy'))).toEqual([])
})
