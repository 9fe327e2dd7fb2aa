import { describe, expect, it } from 'vitest'
import { exportFormatOf, takesGzip } from './media.ts'

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
    ['application/x-ndjson-seq', undefined],
    ['x-text/csv', undefined],
    // The highest weight wins, of equals the name before the range, then the first.
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
    // What is no weight is a parameter that we do not have.
    ['text/csv;q=2', undefined],
    ['text/csv;q=x', undefined],
  ])('%s: %s', (accept, format) => {
    expect(exportFormatOf(accept)).toBe(format)
  })
})

describe('takesGzip', () => {
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
    // What is named counts before what is not, wherever it stands.
    ['*, gzip;q=0', false],
    ['gzip;q=0, *', false],
    ['*;q=0, gzip', true],
    // No weight.
    ['gzip;q=2', false],
    ['gzip;level=9', false],
    ['gzip;q=1;q=1', false],
    ['xgzip', false],
  ])('%s: %s', (accepted, taken) => {
    expect(takesGzip(accepted)).toBe(taken)
  })

  it.each(['gzip;', '*', 'gzip'])('takes no longer than reading it, after %s and 31,000 spaces', (coding) => {
    // A pattern that goes back over the spaces took a second for each of these; 100 are read in a fraction of one.
    const accepted = `${coding}${' '.repeat(31_000)}x`
    const began = process.cpuUsage()
    for (let n = 0; n < 100; n++) expect(takesGzip(accepted)).toBe(false)
    const { user } = process.cpuUsage(began)
    expect(user / 1e6).toBeLessThan(5)
  })
})
