import { expect, it } from 'vitest'
import { collections } from '../../api/catalog.ts'
import { partsOf, reasonsOf, searchOf, wordsOf } from './search-words.ts'

it('takes words for a search, and everything with an operator for a filter', () => {
  expect(searchOf('nordw')).toBe('nordw')
  expect(searchOf('  hex bolt  ')).toBe('hex bolt')
  expect(searchOf('"R&D"')).toBe('R&D')
  for (const filter of ['', '  ', 'name*bolt', 'id[1', 'active=', '(a', 'a|b', '"a', '""'])
    expect(searchOf(filter)).toBeUndefined()
})

const row = { id: 7, name: 'Nordwind Logistics', email: 'orders@nordwind.example', phone: '+49 40 5550' }

it('says why a record was found, unless its name says so', () => {
  const texts = (search: string) =>
    reasonsOf(collections.partner, row, wordsOf(search)).map(({ text }) => text)
  expect(texts('NORDW')).toEqual([])
  expect(texts('orders')).toEqual(['orders@nordwind.example'])
  expect(texts('nordwind 5550')).toEqual(['+49 40 5550'])
  expect(texts('orders example')).toEqual(['orders@nordwind.example'])
})

it('marks every occurrence of the words', () => {
  expect(partsOf('Bolt, hex bolt', ['bolt'])).toEqual([
    { text: 'Bolt', isMatch: true },
    { text: ', hex ', isMatch: false },
    { text: 'bolt', isMatch: true },
  ])
  expect(partsOf('aaa', ['aa'])).toEqual([{ text: 'aaa', isMatch: true }])
  expect(partsOf('', ['a'])).toEqual([])
  // In lower case, this letter has two characters.
  expect(partsOf('İzmir', ['izmir'])).toEqual([{ text: 'İzmir', isMatch: false }])
})
