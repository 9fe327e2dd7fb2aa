import { describe, expect, it } from 'vitest'
import { resources } from '../../catalog/resources.ts'
import { parseExportRequest } from '../list-request.ts'
import { planList } from '../plan.ts'
import { type ExportFormat, exportStatement } from './export-statement.ts'

const statement = (raw: string, format: ExportFormat) =>
  exportStatement({ accountId: '12' }, planList(resources.company, parseExportRequest(raw, 'url')), format)

describe('exportStatement', () => {
  it('writes one record per line, as JSON of a list', () => {
    expect(statement('fields=id,company_code&filter=name=Acme', 'ndjson')).toEqual({
      text: `copy (select '{"id":' || r.id::text || ',"company_code":' || coalesce(to_json(r.company_code)::text, 'null') || '}' from company r where account_id = $1::bigint and name = $2::text order by r.id)
to stdout (format csv, delimiter E'\\x01', quote E'\\x02')`,
      values: ['12', 'Acme'],
      operation: 'other',
    })
  })

  it('computes ETags, whose first value is the account', () => {
    const { text, values } = statement('fields=etag', 'csv')
    expect(text).toMatch(
      /^copy \(select '"' \|\| r\.version \|\| '-' \|\| lpad\(to_hex\(\(select .* from tally t where t\.account_id = \$1::bigint and t\.resource = \$2::text\)\), 16, '0'\) \|\| '-' \|\| r\.id \|\| '-' \|\| \$3::text \|\| '"' as etag from company r where account_id = \$1::bigint order by r\.id\)/,
    )
    expect(values).toEqual(['12', 'company', expect.stringMatching(/^[\w-]{16}$/)])
  })

  it('quotes text in CSV', () => {
    expect(statement('fields=id,company_code', 'csv').text).toBe(
      'copy (select r.id as id, r.company_code as company_code from company r where account_id = $1::bigint order by r.id) to stdout (format csv, force_quote (company_code))',
    )
    expect(statement('fields=id', 'csv').text).toMatch(/to stdout \(format csv\)$/)
  })

  it('neutralizes formulas for spreadsheets', () => {
    expect(statement('fields=id,company_code', 'spreadsheet')).toEqual({
      text: `copy (select r.id as id, case when ascii(r.company_code) in (0, 9, 10, 13, 39, 43, 45, 61, 64, 65291, 65293, 65309, 65312)
  and r.company_code ~ '^''*([=+@\\t\\r\\n＝＋－＠-]|$)' then '''' else '' end || case when r.company_code ~ '[;\\t\\r\\n]'
  then regexp_replace(r.company_code, '(?<=[;\\t\\r\\n])(?=[''"]*[=+@＝＋－＠-])', '''', 'g') else r.company_code end as company_code from company r where account_id = $1::bigint order by r.id) to stdout (format csv, force_quote (company_code))`,
      values: ['12'],
      operation: 'other',
    })
  })
})

describe('parseExportRequest', () => {
  it('rejects the parameters of pages', () => {
    expect(() => parseExportRequest('page=1&limit=5', 'url')).toThrow(
      'An export contains all matching records, so it does not support page. Omit the parameter, or request application/json. (and 1 more, see errors)',
    )
  })
})
