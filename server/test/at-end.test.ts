import { expect, it } from 'vitest'
import { atEnd, stopAll } from './at-end.ts'

it('stops what was started last first, and the rest although one cannot be stopped', async () => {
  const stopped: string[] = []
  atEnd(() => stopped.push('first'))
  atEnd(() => Promise.reject(new Error('no answer')))
  atEnd(async () => stopped.push('last'))
  await expect(stopAll()).rejects.toThrow('not stopped: Error: no answer')
  expect(stopped).toEqual(['last', 'first'])
  await stopAll()
  expect(stopped).toHaveLength(2)
})
