import fc from 'fast-check'
import { expect, it } from 'vitest'
import { exactText, spreadsheetText } from './spreadsheet-form.ts'

it('a text in the form for spreadsheets begins no formula, and its exact text can be restored', () => {
  const characters = fc.constantFrom('=', '+', '-', '@', '＝', "'", '"', ';', '\t', '\r', '\n', ' ', 'x', '7')
  fc.assert(
    fc.property(fc.array(characters, { maxLength: 8 }), (parts) => {
      const text = parts.join('')
      const cell = spreadsheetText(text)
      expect(exactText(cell)).toBe(text)
      const [first, ...others] = cell.split(/[;\t\r\n]/)
      expect(first).not.toMatch(/^[=+\-@＝]/)
      for (const part of others) expect(part).not.toMatch(/^"*[=+\-@＝]/)
    }),
    { numRuns: 5000 },
  )
})
