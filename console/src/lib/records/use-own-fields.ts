import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type CollectionName, collections } from '../../api/catalog.ts'
import { type AccountCollection, withOwnFields } from '../../api/own-fields.ts'
import { ownFieldsQuery } from '../../api/own-fields-query.ts'
import { isResource } from '../../api/read.ts'

/** The list with the fields of the account, which are loaded once `isReady`: the first view does not wait for them. */
export function useOwnFields(name: CollectionName, isReady: boolean) {
  const queryClient = useQueryClient()
  const { data, error } = useQuery({ ...ownFieldsQuery, enabled: isReady && isResource(name) })
  const collection: AccountCollection = useMemo(() => withOwnFields(collections[name], data), [name, data])
  return {
    collection,
    /** Only if no definitions are there: those of before a failure are still used. */
    error: data === undefined && isResource(name) ? error : null,
    reload: () => void queryClient.invalidateQueries({ queryKey: ownFieldsQuery.queryKey }),
  }
}
