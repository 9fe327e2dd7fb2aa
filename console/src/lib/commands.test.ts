import { expect, it } from 'vitest'
import { commandsFor } from './commands.ts'

const situation = {
  to: '/products',
  search: { filter: 'id>5', page: '2' },
  access: {
    product: true,
    partner: true,
    company: false,
    manage: false,
    create: ['partner'],
    write: ['partner'],
    self: { account: 'acme', key_id: 'a', name: 'shop', scopes: [], created_at: '', expires_at: null },
  },
  own: {
    product: [{ name: 'x_weight', type: 'decimal', nullable: true, description: 'Weight' }],
    partner: [],
    company: [],
  },
  found: [],
  views: [{ name: 'Cheap', page: 'product', search: '?filter=list_price<5' }],
}
const labels = (typed: string) => commandsFor({ ...situation, typed }).map(({ label }) => label)

it('finds pages, actions and saved views by words', () => {
  expect(labels('part')).toEqual(['Partners', 'Import partners', 'Create a partner'])
  expect(labels('view cheap')).toEqual(['Cheap'])
  expect(labels('keys')).not.toContain('Keys')
})

it('opens a record by its id, on the pages that the key may read', () => {
  expect(labels('42')).toEqual(['Open product 42', 'Open partner 42'])
})

it('offers a filter for the lists that have its fields', () => {
  expect(labels('list_price>10')).toEqual(['Filter products by list_price>10'])
  expect(labels('name*bolt')).toEqual(['Filter products by name*bolt', 'Filter partners by name*bolt'])
  expect(labels('x_weight>10')).toEqual(['Filter products by x_weight>10'])
})

it('offers the records that were found, why, and all of them if there are more', () => {
  const row = { id: 7, name: 'Nordwind', email: 'orders@nordwind.example', phone: null }
  const list = {
    data: [row],
    meta: { count: 1, total: 1_200 },
    pagination: { previousPage: null, currentPage: 1, nextPage: 2, totalPages: 240 },
  }
  const found = commandsFor({ ...situation, typed: 'orders', found: [{ name: 'partner', list }] })
  expect(found).toMatchObject([
    {
      label: 'Nordwind',
      hint: 'partner 7',
      why: 'Email: orders@nordwind.example',
      action: { to: '/partners', search: { search: 'orders', record: '7' } },
    },
    { label: 'All 1,200 partners with “orders”', action: { search: { search: 'orders' } } },
  ])
  expect(
    commandsFor({ ...situation, typed: 'nordw', found: [{ name: 'partner', list }] })[0],
  ).not.toHaveProperty('why')
})
