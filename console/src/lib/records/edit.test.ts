import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { collections, type Field } from '../../api/catalog.ts'
import { de } from '../../texts/de.ts'
import { en } from '../../texts/en.ts'
import { setTexts } from '../../texts/texts.ts'
import {
  confirmationOf,
  draftOf,
  emptyDraft,
  isRequired,
  mergedWith,
  patchOf,
  writableFields,
} from './edit.ts'

const own: readonly Field[] = [
  { name: 'x_checked', type: 'timestamp', nullable: true, description: '' },
  { name: 'x_count', type: 'integer', nullable: true, description: '' },
]
const fields = writableFields({ fields: [...collections.product.fields, ...own] })
const record = {
  id: 7,
  name: 'Bolt',
  default_code: 'B-7',
  list_price: '123456789012345678901.5',
  qty_available: '3',
  active: true,
  categ_id: null,
  product_tmpl_id: 5,
  is_rsd_product: null,
  x_checked: '2026-11-14T09:30:00.000Z',
  x_count: 3,
}
const base = draftOf(fields, record)
const changed = (change: Record<string, string>) => patchOf(fields, base, { ...base, ...change })

beforeAll(() => {
  vi.stubEnv('TZ', 'Europe/Berlin')
})
afterAll(() => {
  vi.unstubAllEnvs()
})

it('has what a person can write, ticks last', () => {
  expect(fields.map(({ name }) => name)).toEqual([
    'name',
    'default_code',
    'list_price',
    'qty_available',
    'categ_id',
    'product_tmpl_id',
    'x_checked',
    'x_count',
    'active',
    'is_rsd_product',
  ])
  expect(
    writableFields(collections.company)
      .filter(isRequired)
      .map(({ name }) => name),
  ).toEqual(['name', 'branch_user'])
})

describe('a patch', () => {
  it('has only what was changed', () => {
    expect(changed({})).toEqual({})
    expect(changed({ name: 'Nut' })).toEqual({ name: 'Nut' })
  })

  it('has values of their type, with every digit, and null for what was emptied', () => {
    expect(changed({ list_price: '0.10', categ_id: '4', default_code: '', active: 'false' })).toEqual({
      list_price: '0.10',
      categ_id: 4,
      default_code: null,
      active: false,
    })
    expect(changed({ is_rsd_product: 'true', x_count: '' })).toEqual({ is_rsd_product: true, x_count: null })
  })

  it('has a time of this zone in UTC', () => {
    vi.stubEnv('TZ', 'Europe/Berlin')
    const local = draftOf(fields, record)
    expect(local['x_checked']).toBe('2026-11-14T10:30:00')
    expect(patchOf(fields, local, { ...local, x_checked: '2026-06-01T12:00' })).toEqual({
      x_checked: '2026-06-01T10:00:00.000Z',
    })
  })

  it('leaves to the service to reject what it cannot accept', () => {
    expect(changed({ categ_id: 'four', list_price: '1,5', name: '' })).toEqual({
      categ_id: 'four',
      list_price: '1,5',
      name: '',
    })
    expect(changed({ categ_id: '99999999999999999' })).toEqual({ categ_id: '99999999999999999' })
  })

  it('of a new record leaves out the defaults', () => {
    const empty = emptyDraft(fields)
    expect(patchOf(fields, empty, { ...empty, name: 'Nut' })).toEqual({ name: 'Nut' })
    expect(patchOf(fields, empty, { ...empty, active: 'false' })).toEqual({ active: false })
  })
})

it('merges with the version of others, and finds what both changed', () => {
  const yours = { ...base, name: 'Nut', list_price: '9', categ_id: '2' }
  const theirs = { ...base, name: 'Screw', qty_available: '4', categ_id: '2' }
  const { conflicts, onlyTheirs, draft } = mergedWith(fields, base, yours, theirs)
  expect(conflicts.map(({ field, ...texts }) => [field.name, texts])).toEqual([
    ['name', { theirs: 'Screw', yours: 'Nut' }],
  ])
  expect(onlyTheirs.map(({ name }) => name)).toEqual(['qty_available'])
  expect(draft).toEqual({ ...base, name: 'Nut', list_price: '9', qty_available: '4', categ_id: '2' })
})

it('asks for the name of a record, or its id if the name cannot be typed', () => {
  expect(confirmationOf(record)).toEqual({ what: 'name', text: 'Bolt' })
  expect(confirmationOf({ ...record, name: 'x'.repeat(41) })).toEqual({ what: 'ID', text: '7' })
  expect(confirmationOf({ ...record, name: ' ' })).toEqual({ what: 'ID', text: '7' })
})

it('reads and writes decimals with the sign of the language', () => {
  setTexts(de)
  onTestFinished(() => setTexts(en))
  const prices = collections.product.fields.filter(({ name }) => name === 'list_price')
  const shown = draftOf(prices, { list_price: '1234567.50' })
  expect(shown).toEqual({ list_price: '1234567,50' })
  for (const [typed, sent] of [
    ['12,5', '12.5'],
    ['1.234,50', '1234.50'],
    ['12.5', '12.5'],
    ['cheap', 'cheap'],
  ] as const)
    expect(patchOf(prices, shown, { list_price: typed })).toEqual({ list_price: sent })
})
