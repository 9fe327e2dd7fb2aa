import { queryOptions } from '@tanstack/react-query'
import { currentKey } from '../session.ts'
import { t } from '../texts/texts.ts'
import { recorded } from './exchange.ts'
import { type ApiDocument, type OwnFields, ownFieldsOf } from './own-fields.ts'

const storageName = 'quartermaster.own-fields'
const timeoutMs = 30_000
/** Longer than a session: definitions are loaded once, and again when a response shows that they have changed. */
const staleMs = 86_400_000

/** After a reload of the page, the definitions of this tab are shown until they are loaded again. */
export const ownFieldsQuery = queryOptions({
  queryKey: ['own-fields'],
  queryFn: ({ signal }) => readOwnFields(signal),
  initialData: storedOwnFields,
  initialDataUpdatedAt: 0,
  staleTime: staleMs,
  gcTime: Number.POSITIVE_INFINITY,
})

async function readOwnFields(signal: AbortSignal): Promise<OwnFields> {
  const key = currentKey() ?? ''
  const { body: own } = await recorded(async (recording) => {
    const response = await recording('/openapi.json', {
      headers: { accept: 'application/json', authorization: `Bearer ${key}` },
      // Sends the ETag if the browser has one: without declared fields, the document may be cached for an hour.
      cache: 'no-cache',
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), signal]),
    })
    if (!response.ok) throw new Error(t.app.statusOf(response.status))
    const document: ApiDocument = await response.json()
    return ownFieldsOf(document)
  })
  if (currentKey() === key) sessionStorage.setItem(storageName, JSON.stringify(own))
  return own
}

function storedOwnFields(): OwnFields | undefined {
  const stored = sessionStorage.getItem(storageName)
  return stored === null ? undefined : JSON.parse(stored)
}
