import { queryOptions, useQuery } from '@tanstack/react-query'
import { currentKey } from '../session.ts'
import { readList } from './read.ts'

/** Log entries appear a second or two after the response; on a busy service later. */
const attemptsMax = 8
const attemptMs = 1_500

/**
 * The id of the key of this tab. No endpoint reports it, so it is read from the request log: the entry with the request id
 * of a response to this tab has it. Null if the entry did not appear, such as when requests are not logged.
 */
export const ownKeyQuery = queryOptions({
  queryKey: ['own-key'],
  queryFn: async ({ signal }): Promise<string | null> => {
    const key = currentKey()
    const { exchange } = await readList('key', { fields: 'key_id', limit: '1' }, signal)
    const requestId = exchange?.headers['x-request-id']
    if (requestId === undefined) return null
    for (let attempt = 0; attempt < attemptsMax && !signal.aborted && currentKey() === key; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, attemptMs))
      const filter = `request_id=${requestId}`
      const { body } = await readList('request', { filter, fields: 'key_id', limit: '1' }, signal)
      const keyId = body.data[0]?.['key_id']
      if (typeof keyId === 'string') return keyId
    }
    return null
  },
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
})

/** Undefined until it is known. `isNeeded` false: only if another component found it. */
export function useOwnKeyId(isNeeded = true): string | undefined {
  return useQuery({ ...ownKeyQuery, enabled: isNeeded }).data ?? undefined
}
