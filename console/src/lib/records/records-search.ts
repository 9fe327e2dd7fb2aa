import type { CollectionName } from '../../api/catalog.ts'
import type { Search } from '../search.ts'
import { presentations } from './views.ts'

/** The parameters of a page with a list. */
export interface RecordsSearch extends Search {
  readonly filter?: string | undefined
  readonly fields?: string | undefined
  /** Words that each occur in some text field. */
  readonly search?: string | undefined
  /** The field that orders the list; with `-` before it, descending. */
  readonly sort?: string | undefined
  readonly page?: string | undefined
  readonly limit?: string | undefined
  /** The id of the record in the side panel. */
  readonly record?: string | undefined
  /** `request`: the side panel with the request. */
  readonly panel?: string | undefined
  /** `create`, `edit` or `delete`: the form that is open. */
  readonly dialog?: string | undefined
}

const known = ['filter', 'fields', 'search', 'sort', 'page', 'limit', 'record', 'panel', 'dialog']

export function unknownParameters(search: Search): readonly string[] {
  return Object.keys(search).filter((name) => !known.includes(name))
}

/** Records per page if the URL has no `limit`: more than the API's 10, because a screen has space for them. */
export const defaultLimit = '50'

/** As in the URL of the page: text that the service validates. */
export interface ListParameters {
  readonly filter?: string | undefined
  readonly fields?: string | undefined
  readonly search?: string | undefined
  readonly sort?: string | undefined
  readonly page?: string | undefined
  readonly limit?: string | undefined
  readonly per?: string | undefined
}

/** What a page requests, in the order in which it is sent. */
export function listParameters(name: CollectionName, search: RecordsSearch): ListParameters {
  return {
    fields: search.fields ?? presentations[name].fields,
    filter: search.filter,
    search: search.search,
    sort: search.sort,
    page: search.page,
    limit: search.limit ?? defaultLimit,
  }
}
