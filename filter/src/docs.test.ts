import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FilterError } from './error.ts'
import { parse } from './parse.ts'

const reference = readFileSync(new URL('../../docs/filter-language.md', import.meta.url), 'utf8')

/** The lines of all fenced blocks with this tag. */
function examples(tag: string): string[] {
  const found: string[] = []
  let block: string | undefined
  for (const line of reference.split('\n')) {
    if (line.startsWith('```')) block = block === undefined ? line.slice(3) : undefined
    else if (block === tag && line !== '') found.push(line)
  }
  return found
}

describe('the filters of docs/filter-language.md', () => {
  it('are read from the page', () => {
    expect(examples('filter').length).toBeGreaterThan(40)
    expect(examples('filter-error').length).toBeGreaterThan(10)
  })

  it.each(examples('filter'))('%s is valid', (text) => {
    expect(parse(text)).toHaveProperty('kind')
  })

  it.each(examples('filter-error'))('%s is rejected', (text) => {
    expect(() => parse(text)).toThrow(FilterError)
  })
})
