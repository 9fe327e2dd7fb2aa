import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Access } from './access.ts'
import { problemFrom } from './exchange.ts'
import { type List, type ResourceName, readList } from './read.ts'

/** Records of each resource that a search shows. */
export const foundShown = 5

export interface Found {
  readonly name: ResourceName
  readonly list: List
}

/** The records of every resource that the key may read in which these words occur. */
export function findQuery(search: string, access: Access | undefined) {
  const names = (['partner', 'product', 'company'] as const).filter((name) => access?.[name] !== false)
  return queryOptions({
    queryKey: ['find', search, names],
    queryFn: async ({ signal }): Promise<readonly Found[]> => {
      const lists = await Promise.all(names.map((name) => find(name, search, signal)))
      return lists.filter((one) => one !== undefined)
    },
    placeholderData: keepPreviousData,
  })
}

async function find(name: ResourceName, search: string, signal: AbortSignal): Promise<Found | undefined> {
  try {
    const { body } = await readList(name, { search, limit: String(foundShown) }, signal)
    return { name, list: body }
  } catch (error) {
    // What the key may read is not known yet.
    if (problemFrom(error).code === 'scope_missing') return undefined
    throw error
  }
}
