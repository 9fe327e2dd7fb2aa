import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { catalogFile, catalogText, deliveryErrorsFile, deliveryErrorsText } from '../../generate-catalog.ts'

it('is up to date with the catalog of the server', () => {
  expect(readFileSync(catalogFile, 'utf8')).toBe(catalogText())
})

it('has the texts of the server for each reason why a delivery failed', () => {
  expect(readFileSync(deliveryErrorsFile, 'utf8')).toBe(deliveryErrorsText())
  expect(deliveryErrorsText()).toContain('host_unknown')
})
