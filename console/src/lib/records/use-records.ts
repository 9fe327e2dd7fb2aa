import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { CollectionName } from '../../api/catalog.ts'
import { type Read, RequestFailed } from '../../api/exchange.ts'
import { type List, listQuery, type Row } from '../../api/read.ts'
import { useHotkeys } from '../hotkeys.ts'
import { useIdleAfter } from '../use-idle-after.ts'
import { fieldsOf } from './columns.ts'
import { isOutdatedBy, unknownOwnNames } from './outdated.ts'
import { defaultLimit, type ListParameters, listParameters, type RecordsSearch } from './records-search.ts'
import { useOwnFields } from './use-own-fields.ts'
import { presentations } from './views.ts'

/** Changes parameters of the address; `replace` without an entry in the history. */
type Go = (change: Partial<RecordsSearch>, replace?: boolean) => void

/** What a page with a list shows and does, derived from its address. */
export function useRecords(name: CollectionName, search: RecordsSearch) {
  const navigate = useNavigate()
  const limit = search.limit ?? defaultLimit
  const parameters = listParameters(name, search)
  const query = useQuery({ ...listQuery(name, parameters), placeholderData: keepPreviousData })
  const list = query.data?.body
  const isReady = useIdleAfter(query.data !== undefined || query.error !== null)
  const own = useOwnFields(name, isReady)
  const { collection } = own
  useCurrentDefinitions(own, parameters, query)
  const fields = useMemo(() => fieldsOf(collection, parameters.fields), [collection, parameters.fields])
  // Callbacks are the same as long as the address is, so that a change of the selection renders only the grid.
  const go: Go = useCallback(
    (change, replace = false) => void navigate({ to: '.', search: { ...search, ...change }, replace }),
    [navigate, search],
  )
  const selection = useSelection(presentations[name].idField, list, search, go)
  const pageTo = useCallback(
    (to: number) => go({ page: to === 1 ? undefined : String(to), record: undefined }),
    [go],
  )
  const toggleRequest = useCallback(
    () => go({ panel: search.panel === 'request' ? undefined : 'request', record: undefined }),
    [go, search.panel],
  )
  const close = () => go({ record: undefined, panel: undefined })
  const isOpen = (search.record ?? search.panel) !== undefined
  useListHotkeys(selection, list, pageTo)
  useHotkeys({ r: toggleRequest, Escape: () => isOpen && close() })
  const names = useMemo(() => fields.map((field) => field.name), [fields])
  return {
    name,
    search,
    collection,
    own,
    isReady,
    limit,
    parameters,
    query,
    list,
    fields,
    names,
    go,
    selection,
    pageTo,
    toggleRequest,
  }
}

export type RecordsView = ReturnType<typeof useRecords>

/** Loads the declared fields again when a response shows that they have changed. */
function useCurrentDefinitions(
  { collection, reload }: ReturnType<typeof useOwnFields>,
  parameters: ListParameters,
  {
    data,
    error,
    isPlaceholderData,
  }: Pick<UseQueryResult<Read<List>>, 'data' | 'error' | 'isPlaceholderData'>,
) {
  // Only when a response or the definitions are new: the same definitions again would not help.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the response is to these parameters
  useEffect(() => {
    if (!collection.isComplete || isPlaceholderData) return
    const faults = error instanceof RequestFailed ? (error.problem.errors ?? []) : []
    const isOutdated =
      error === null
        ? data !== undefined && isOutdatedBy(collection, parameters, data.body.data)
        : unknownOwnNames(faults, parameters).some((name) =>
            collection.fields.some((field) => field.name === name),
          )
    if (isOutdated) reload()
  }, [collection, data, error, isPlaceholderData])
}

/** Which row is selected, and which record is open. */
function useSelection(idField: string | undefined, list: List | undefined, search: RecordsSearch, go: Go) {
  const [selected, select] = useState(0)
  const rows = list?.data ?? []
  const idOf = (row: Row | undefined) => {
    const id = idField === undefined ? undefined : row?.[idField]
    return id == null ? undefined : String(id)
  }
  const openAt = rows.findIndex((row) => idOf(row) === search.record)
  useEffect(() => {
    if (openAt >= 0) select(openAt)
  }, [openAt])
  useEffect(() => {
    if (rows.length > 0 && selected >= rows.length) select(rows.length - 1)
  }, [rows.length, selected])
  const open = (index: number) => {
    const id = idOf(rows[index])
    if (id !== undefined && id !== search.record) {
      go({ record: id, panel: undefined }, search.record !== undefined)
    }
  }
  const move = (by: number) => {
    const next = Math.min(Math.max(selected + by, 0), Math.max(rows.length - 1, 0))
    select(next)
    if (search.record !== undefined) open(next)
  }
  return { selected, select, open, move, row: rows[openAt] }
}

function useListHotkeys(
  selection: ReturnType<typeof useSelection>,
  list: List | undefined,
  pageTo: (page: number) => void,
) {
  const nextPage = () => list?.pagination.nextPage != null && pageTo(list.pagination.nextPage)
  const previousPage = () => list?.pagination.previousPage != null && pageTo(list.pagination.previousPage)
  const step = (by: number) => (event: KeyboardEvent) => {
    event.preventDefault()
    selection.move(by)
  }
  useHotkeys({
    j: step(1),
    k: step(-1),
    ArrowDown: step(1),
    ArrowUp: step(-1),
    Enter: () => selection.open(selection.selected),
    o: () => selection.open(selection.selected),
    n: nextPage,
    ']': nextPage,
    p: previousPage,
    '[': previousPage,
  })
}
