import { describe, expect, it } from 'vitest'
import { resources } from '../../catalog/resources.ts'
import { parseListRequest } from '../list-request.ts'
import { planList } from '../plan.ts'
import { hasTrigram, namesRecords, whereAmongMany } from './where.ts'

const whereOf = (filter: string) => {
  const { where } = planList(
    resources.product,
    parseListRequest(`filter=${encodeURIComponent(filter)}`, 'url'),
  )
  if (where === undefined) throw new Error('no filter')
  return where
}

it.each([
  ['steel', true],
  ['zz', false],
  ['AB', false],
  ['ü1ß', true],
  // Padded at the borders of its words: "m8 ", "  x".
  ['M8 x', true],
  ['a-', false],
  ['ab-', true],
  ['-a', true],
  ['--', false],
])('%s has a trigram that pg_trgm can search for: %s', (text, expected) => {
  expect(hasTrigram(text)).toBe(expected)
})

describe('among many records', () => {
  const text = (filter: string) => whereAmongMany(whereOf(filter)).statement().text

  it('only a text with trigrams is searched by the trigram index', () => {
    expect(text('name*steel')).toBe(`name collate "default" ilike $1::text and ctid is not null`)
    expect(text('name*zz')).toBe('((lower(name) like $1::text)) is true and ctid is not null')
    expect(text('name!*bolt')).toBe('(not (lower(name) like $1::text)) is true and ctid is not null')
  })

  it('letters fold as in "C", and in the default collation where another character folds to one of them', () => {
    expect(text('name*a')).toBe('((name like $1::text or name like $2::text)) is true and ctid is not null')
    expect(text('name*7')).toBe('((name like $1::text)) is true and ctid is not null')
    expect(text('name*ki')).toContain(
      'lower(name) like $1::text or name like $2::text and name collate "default" ilike $3::text or name like $4::text and',
    )
    expect(text('name*ü')).toBe('(name collate "default" ilike $1::text) is true and ctid is not null')
  })

  it('reads the index of an equality', () => {
    expect(text('name*zz&categ_id=4')).toBe(
      '(((lower(name) like $1::text)) is true and categ_id = $2::bigint)',
    )
  })
})

it.each([
  ['id=7', true],
  ['id[1,2]&active=true', true],
  ['id=7|id=8', true],
  ['id=7|active=true', false],
  ['id>7', false],
  ['name=a', false],
])('%s names its records: %s', (filter, expected) => {
  expect(namesRecords(whereOf(filter))).toBe(expected)
})
