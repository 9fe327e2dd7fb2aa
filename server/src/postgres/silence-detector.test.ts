import { expect, it } from 'vitest'
import { SilenceDetector } from './silence-detector.ts'

it('detects silence after a number of checks without a response', () => {
  const silence = new SilenceDetector(2)
  expect([silence.check(), silence.check(), silence.check()]).toEqual([false, false, true])
  silence.responded()
  expect([silence.check(), silence.check(), silence.check()]).toEqual([false, false, true])
})
