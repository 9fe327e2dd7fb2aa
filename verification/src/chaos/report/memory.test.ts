import { expect, it } from 'vitest'
import { type MemorySample, slope } from './memory.ts'

const megabyte = 1024 * 1024

it('follows what remains after garbage collections, without the time in which caches fill', () => {
  const samples = Array.from({ length: 1_800 }, (_, second): MemorySample => {
    const minutes = second / 60
    const garbage = (second % 20) * megabyte
    const caches = Math.min(minutes, 10) * 20 * megabyte
    return { at: second * 1000, heap: caches + garbage + minutes * 0.1 * megabyte, resident: 0 }
  })
  expect(slope(samples, 'heap')).toBeGreaterThan(5)
  expect(slope(samples, 'heap')).toBeLessThan(7)
})
