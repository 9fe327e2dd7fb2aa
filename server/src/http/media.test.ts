import { describe, expect, it } from 'vitest'
import { exportFormatOf } from './media.ts'

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
