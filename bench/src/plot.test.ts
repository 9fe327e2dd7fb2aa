import { expect, it } from 'vitest'
import { plot, type Row } from './plot.ts'

const row: Row = {
  name: 'warm_list',
  bound: '≥ 1.5',
  ok: true,
  label: 'list, cached',
  unit: '/s',
  service: { name: 'service', value: 20_000, runs: [20_000] },
  other: { name: 'plain PostgreSQL', value: 10_000, runs: [10_000] },
  limit: 15_000,
}

it('draws both bars to the same scale, with the bound as a line', () => {
  const svg = plot([row], 'a & b')
  expect(
    [...svg.matchAll(/<rect [^>]*width="([\d.]+)"[^>]*class="(\w+)"/g)].map((m) => [m[2], m[1]]),
  ).toEqual([
    ['service', '330.0'],
    ['other', '165.0'],
  ])
  expect(svg).toContain('<line x1="497.5" x2="497.5"')
  expect(svg).toContain('20,000 /s')
  expect(svg).toContain('a &amp; b')
})

it('labels a missed bound, and draws a row without a baseline', () => {
  const { other: _, ...withoutBaseline } = row
  const svg = plot([{ ...withoutBaseline, ok: false, limit: 40_000 }], '')
  expect(svg).toContain('≥ 1.5, short')
  expect(svg.match(/<rect /g)).toHaveLength(1)
})
