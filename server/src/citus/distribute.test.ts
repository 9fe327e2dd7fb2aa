import { expect, it } from 'vitest'
import { isSupportedVersion } from './distribute.ts'

it.each(['13.1-1', '13.2-1', '14.0-1'])('Citus %s is supported', (version) => {
  expect(isSupportedVersion(version)).toBe(true)
})

it.each(['11.3-1', '12.1-1', '13.0-1', '13.0.3'])('Citus %s is too old', (version) => {
  expect(isSupportedVersion(version)).toBe(false)
})
