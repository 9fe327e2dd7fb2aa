import { expect, it } from 'vitest'
import { commandsFor } from './commands.ts'

const situation = {
  to: '/products',
  search: { filter: 'id>5', page: '2' },
  access: { product: true, partner: true, company: false, manage: false },
  own: {
    product: [{ name: 'x_weight', type: 'decimal', nullable: true, description: 'Weight' }],
    partner: [],
    company: [],
  },
  views: [{ name: 'Cheap', page: 'product', search: '?filter=list_price<5' }],
}
const labels = (typed: string) => commandsFor({ ...situation, typed }).map(({ label }) => label)

it('finds pages, actions and saved views by words', () => {
  expect(labels('part')).toEqual(['Partners', 'Create a partner'])
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
