import { expect, it } from 'vitest'
import { externalIdOf, recordIdOf } from './external-id.ts'
import { mappingOf, type OdooField, valueHere } from './mapping.ts'

it.each([
  ['text', false, null],
  ['text', '', null],
  ['text', 'EAN', 'EAN'],
  ['integer', false, null],
  ['integer', 0, 0],
  ['integer', 7, 7],
  ['integer', [7, 'All / Office'], 7],
  ['decimal', 0, 0],
  ['boolean', false, false],
  ['boolean', 2, true],
  ['boolean', 0, false],
  ['timestamp', '2026-11-14 09:30:00', '2026-11-14T09:30:00Z'],
  ['timestamp', '2026-11-14', '2026-11-14T00:00:00Z'],
  ['timestamp', false, null],
] as const)('as %s, %o of Odoo is %o', (kind, value, here) => {
  expect(valueHere(kind, value)).toBe(here)
})

const field = (type: string, more: Partial<OdooField> = {}): OdooField => ({
  type,
  string: type,
  store: true,
  ...more,
})

it('says what cannot be mapped, what is left out, and what is seen late', () => {
  const { fields, faults, leftOut } = mappingOf(
    'partner',
    {
      domain: [],
      fields: {
        name: { field: 'name', else: 'complete_name' },
        is_customer: { field: 'customer_rank', isOptional: true },
        email: { field: 'mail' },
        active: { field: 'name' },
        x_tags: { field: 'category_id' },
        x_credit: { field: 'credit' },
        x_limit: { field: 'credit_limit' },
      },
    },
    {
      name: field('char'),
      complete_name: field('char'),
      category_id: field('many2many'),
      credit: field('monetary', { store: false }),
      credit_limit: field('float', { company_dependent: true }),
    },
  )
  expect(leftOut).toEqual(['is_customer: res.partner has no customer_rank'])
  expect(faults).toEqual([
    'email: res.partner has no mail.',
    'active: name is a char, which cannot become boolean.',
    'x_tags: category_id is a many2many, which cannot become a field here.',
  ])
  expect(fields.map(({ name, kind, warning }) => [name, kind, warning])).toEqual([
    ['name', 'text', undefined],
    ['x_credit', 'decimal', 'computed: a change may be seen only by the rolling sweep'],
    ['x_limit', 'decimal', 'the value in the first of the companies'],
  ])
})

it('an external id names the record here, and others do not', () => {
  const id = externalIdOf(4_294_967_301, '2026-11-14T09:30:00.123Z')
  expect(id).toBe('quartermaster.partner_4294967301_mwg7fubf')
  expect(recordIdOf(id)).toBe(4_294_967_301)
  for (const other of [false, 'base.main_partner', 'quartermaster.partner_x_1', `x${id}`] as const)
    expect(recordIdOf(other)).toBeUndefined()
})
