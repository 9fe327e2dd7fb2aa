import { expect, it } from 'vitest'
import { preferredLanguage } from './language.ts'

it('uses the chosen language, then the first of the browser that the console has, then English', () => {
  expect(preferredLanguage('de', ['en-GB'])).toBe('de')
  expect(preferredLanguage('en', ['de-AT'])).toBe('en')
  expect(preferredLanguage(null, ['fr-FR', 'de-CH', 'en'])).toBe('de')
  expect(preferredLanguage(null, ['fr-FR'])).toBe('en')
  expect(preferredLanguage('xx', ['de'])).toBe('de')
})
