import type { Search } from '../search.ts'

/** The parameters of the import page. The file and its columns are not in the address: they end with the tab. */
export interface ImportSearch extends Search {
  readonly resource?: string | undefined
}
