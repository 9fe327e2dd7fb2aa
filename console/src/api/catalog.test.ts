import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { catalogFile, catalogText } from '../../generate-catalog.ts'

it('is up to date with the catalog of the server', () => {
  expect(readFileSync(catalogFile, 'utf8')).toBe(catalogText())
})
