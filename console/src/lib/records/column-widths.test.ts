import { expect, it } from 'vitest'
import { readWidths, saveWidths, withWidth } from './column-widths.ts'

function storageOf(values: Record<string, string> = {}) {
  return {
    getItem: (name: string) => values[name] ?? null,
    setItem: (name: string, value: string) => {
      values[name] = value
    },
  }
}

it('keeps widths for each list, within bounds', () => {
  const storage = storageOf()
  saveWidths('product', withWidth(withWidth({}, 'name', 300.4), 'id', 1), storage)
  expect(readWidths('product', storage)).toEqual({ name: 300, id: 48 })
  expect(readWidths('partner', storage)).toEqual({})
  expect(withWidth({ name: 300, id: 48 }, 'name', undefined)).toEqual({ id: 48 })
})

it('ignores what is no width', () => {
  expect(
    readWidths('product', storageOf({ 'quartermaster.widths.product': '{"id":"a","name":90}' })),
  ).toEqual({ name: 90 })
  expect(readWidths('product', storageOf({ 'quartermaster.widths.product': '{' }))).toEqual({})
})
