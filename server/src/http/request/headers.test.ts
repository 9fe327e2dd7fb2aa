import { describe, expect, it } from 'vitest'
import { acceptsGzip, exportFormatOf } from './headers.ts'

describe('exportFormatOf', () => {
  it.each([
    [undefined, undefined],
    ['*/*', undefined],
    ['application/json', undefined],
    ['image/png', undefined],
    ['', undefined],
    ['text/*', undefined],
    ['application/*', undefined],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', undefined],
    ['text/csv', 'csv'],
    ['Text/CSV', 'csv'],
    ['application/x-ndjson', 'ndjson'],
    ['text/csv; charset=utf-8', 'csv'],
    ['text/csv;charset="UTF-8";header=present', 'csv'],
    ['text/csv; header=absent', undefined],
    ['text/csv; form=spreadsheet', 'spreadsheet'],
    ['text/csv;Form="Spreadsheet";q=0.5, application/x-ndjson;q=0.4', 'spreadsheet'],
    ['text/csv, text/csv; form=spreadsheet', 'csv'],
    ['application/x-ndjson-seq', undefined],
    ['x-text/csv', undefined],
    // The highest weight wins; for equal weights an exact type before a range, then the first.
    ['text/csv;q=0.5, application/json', undefined],
    ['text/csv, application/json;q=0.9', 'csv'],
    ['text/csv;q=0.1, application/x-ndjson;q=0.2', 'ndjson'],
    ['*/*, text/csv', 'csv'],
    ['*/*;q=0.9, text/csv;q=0.8', undefined],
    ['text/csv, application/x-ndjson', 'csv'],
    ['application/x-ndjson, text/csv', 'ndjson'],
    ['application/json, text/csv', undefined],
    ['text/csv;q=0', undefined],
    ['text/csv;q=0.0, */*', undefined],
    // An invalid weight counts as an unsupported parameter.
    ['text/csv;q=2', undefined],
    ['text/csv;q=x', undefined],
  ])('%s: %s', (accept, format) => {
    expect(exportFormatOf(accept)).toBe(format)
  })

  it.each([
    ['text/csv; form=excel', 'form=excel'],
    ['text/csv; form=', 'form='],
    ['text/csv; form=spreadsheet; form=exact', 'form=exact'],
    ['application/json, text/csv; form=excel; q=0', 'form=excel'],
    ['application/x-ndjson; form=spreadsheet', 'form=spreadsheet'],
  ])('%s is rejected', (accept, parameter) => {
    expect(() => exportFormatOf(accept)).toThrow(
      `${parameter} is unknown. Accept text/csv for exact texts, or text/csv; form=spreadsheet for a file to open in a spreadsheet.`,
    )
  })
})

describe('acceptsGzip', () => {
  it.each([
    [undefined, false],
    ['', false],
    ['gzip', true],
    ['GZIP', true],
    [' gzip ', true],
    ['deflate, gzip;q=0.5', true],
    ['gzip; q=1.000', true],
    ['gzip;q=0', false],
    ['gzip;q=0.000', false],
    ['*', true],
    ['*;q=0', false],
    ['identity, br', false],
    // `gzip` has precedence over `*`, in any order.
    ['*, gzip;q=0', false],
    ['gzip;q=0, *', false],
    ['*;q=0, gzip', true],
    // Invalid weights.
    ['gzip;q=2', false],
    ['gzip;level=9', false],
    ['gzip;q=1;q=1', false],
    ['xgzip', false],
  ])('%s: %s', (header, accepted) => {
    expect(acceptsGzip(header)).toBe(accepted)
  })

  it.each(['gzip;', '*', 'gzip'])('takes linear time for %s and 31,000 spaces', (coding) => {
    // A regular expression that backtracks over the spaces takes a second for each; 100 must take less than 5 s.
    const header = `${coding}${' '.repeat(31_000)}x`
    const began = process.cpuUsage()
    for (let n = 0; n < 100; n++) expect(acceptsGzip(header)).toBe(false)
    const { user } = process.cpuUsage(began)
    expect(user / 1e6).toBeLessThan(5)
  })
})
