import { useQueryClient } from '@tanstack/react-query'
import { ownFieldsQuery } from '../../api/own-fields-query.ts'

/** Loads the fields again, and the definitions that every list uses. */
export function useFieldChanged(): () => Promise<void> {
  const queryClient = useQueryClient()
  return async () => {
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: ['list', 'field'] }),
      queryClient.invalidateQueries({ queryKey: ['record', 'field'] }),
      queryClient.invalidateQueries({ queryKey: ownFieldsQuery.queryKey, refetchType: 'all' }),
    ])
  }
}
