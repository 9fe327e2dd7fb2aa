import type { Search } from './search.ts'

/** The parameters of a page with a list. */
export interface RecordsSearch extends Search {
  readonly filter?: string | undefined
  readonly fields?: string | undefined
  readonly page?: string | undefined
  readonly limit?: string | undefined
  /** The id of the record in the side panel. */
  readonly record?: string | undefined
  /** `request`: the side panel with the request. */
  readonly panel?: string | undefined
  /** `create`: the dialog that creates a partner. */
  readonly dialog?: string | undefined
}

const known = ['filter', 'fields', 'page', 'limit', 'record', 'panel', 'dialog']

export function unknownParameters(search: Search): readonly string[] {
  return Object.keys(search).filter((name) => !known.includes(name))
}

/** Records per page if the URL has no `limit`: more than the API's 10, because a screen has space for them. */
export const defaultLimit = '50'
