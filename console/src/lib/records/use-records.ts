import { keepPreviousData, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type Access, accessQuery } from '../../api/access.ts'
import type { CollectionName } from '../../api/catalog.ts'
import { isTemporary, type Problem, problemFrom, type Read, RequestFailed } from '../../api/exchange.ts'
import { isResource, type List, listQuery, type ResourceName, type Row } from '../../api/read.ts'
import { useHotkeys } from '../hotkeys.ts'
import { stringifySearch } from '../search.ts'
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
  const query = useQuery({
    ...listQuery(name, parameters),
    placeholderData: keepPreviousData,
    // A log would move under the pointer.
    refetchOnWindowFocus: isResource(name),
  })
  const list = query.data?.body
  const listKey = useListKey(parameters, query.isPlaceholderData)
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
  const { idField } = presentations[name]
  const selection = useSelection(idField, list, listKey, search, go)
  const hrefOf = useHrefs(idField, search)
  const { pageTo, toggleRequest, sortBy } = useSteps(search, go)
  const refresh = useRefresh(name)
  const close = () => go({ record: undefined, panel: undefined, dialog: undefined })
  // Not before the first view, unless it is known.
  const { data: access } = useQuery({ ...accessQuery, enabled: isReady })
  const write = writeOf(name, access, search, go)
  const isOpen = (search.record ?? search.panel) !== undefined
  useListHotkeys(selection, list, pageTo)
  useHotkeys({
    r: toggleRequest,
    Escape: () => isOpen && close(),
    e: (event) => {
      if (write === undefined) return
      event.preventDefault()
      write.onEdit()
    },
  })
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
    ...failureOf(query),
    list,
    listKey,
    fields,
    names,
    go,
    hrefOf,
    selection,
    access,
    write,
    sortBy,
    pageTo,
    refresh,
    toggleRequest,
  }
}

/** Where a person goes from here. */
function useSteps({ panel }: RecordsSearch, go: Go) {
  const pageTo = useCallback(
    (to: number) => go({ page: to === 1 ? undefined : String(to), record: undefined, dialog: undefined }),
    [go],
  )
  const toggleRequest = useCallback(
    () => go({ panel: panel === 'request' ? undefined : 'request', record: undefined, dialog: undefined }),
    [go, panel],
  )
  const sortBy = useCallback(
    (sort: string | undefined) => go({ sort, page: undefined, record: undefined, dialog: undefined }),
    [go],
  )
  return { pageTo, toggleRequest, sortBy }
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

/** Identifies the list and page whose rows are shown. Other columns are the same list. */
function useListKey(parameters: ListParameters, isPlaceholderData: boolean): string {
  const key = JSON.stringify({ ...parameters, fields: undefined })
  const shown = useRef(key)
  if (!isPlaceholderData) shown.current = key
  return shown.current
}

interface FailureOf {
  /** Shown instead of the rows. */
  readonly failure: Error | null
  /** Shown above the rows of an earlier response. */
  readonly outage: Problem | undefined
}

function failureOf({ error, data }: Pick<UseQueryResult<Read<List>>, 'error' | 'data'>): FailureOf {
  const problem = error === null ? undefined : problemFrom(error)
  if (problem === undefined || data === undefined || !isTemporary(problem))
    return { failure: error, outage: undefined }
  return { failure: null, outage: problem }
}

/** Loads the list and the open record again. */
function useRefresh(name: CollectionName): () => void {
  const queryClient = useQueryClient()
  return useCallback(() => {
    void queryClient.invalidateQueries({ queryKey: ['list', name] })
    void queryClient.invalidateQueries({ queryKey: ['record', name] })
  }, [queryClient, name])
}

export interface RecordWrite {
  readonly name: ResourceName
  readonly isEditing: boolean
  readonly onEdit: () => void
  readonly onDelete: () => void
  readonly onEnd: () => void
}

/** What can be done with the open record. Undefined if the key may not change it. */
function writeOf(
  name: CollectionName,
  access: Access | undefined,
  search: RecordsSearch,
  go: Go,
): RecordWrite | undefined {
  if (!isResource(name) || search.record === undefined || access?.write.includes(name) !== true)
    return undefined
  return {
    name,
    isEditing: search.dialog === 'edit',
    onEdit: () => go({ dialog: 'edit' }, true),
    onDelete: () => go({ dialog: 'delete' }, true),
    onEnd: () => go({ dialog: undefined }, true),
  }
}

/** The addresses of records next to this list. */
function useHrefs(idField: string | undefined, search: RecordsSearch): (row: Row) => string | undefined {
  return useMemo(() => {
    const list = stringifySearch({ ...search, record: undefined, panel: undefined, dialog: undefined })
    return (row) => {
      const id = idOf(idField, row)
      if (id === undefined) return undefined
      return `${location.pathname}${list}${list === '' ? '?' : '&'}record=${encodeURIComponent(id)}`
    }
  }, [idField, search])
}

function idOf(idField: string | undefined, row: Row | undefined): string | undefined {
  const id = idField === undefined ? undefined : row?.[idField]
  return id == null ? undefined : String(id)
}

/** Which row is selected, and which record is open: none is selected if the open record is not on this page. */
function useSelection(
  idField: string | undefined,
  list: List | undefined,
  listKey: string,
  search: RecordsSearch,
  go: Go,
) {
  const [cursor, setCursor] = useState({ listKey, index: 0 })
  const rows = list?.data ?? []
  const openAt =
    search.record === undefined ? undefined : rows.findIndex((row) => idOf(idField, row) === search.record)
  const select = (index: number) => setCursor({ listKey, index })
  useEffect(() => {
    if (openAt !== undefined && openAt >= 0) setCursor({ listKey, index: openAt })
  }, [openAt, listKey])
  const index = cursor.listKey === listKey ? cursor.index : 0
  const selected = openAt ?? Math.max(Math.min(index, rows.length - 1), 0)
  const open = (at: number) => {
    select(at)
    const id = idOf(idField, rows[at])
    if (id !== undefined && id !== search.record) {
      go({ record: id, panel: undefined, dialog: undefined }, search.record !== undefined)
    }
  }
  const move = (by: number) => {
    const next = Math.min(Math.max(selected + by, 0), Math.max(rows.length - 1, 0))
    if (search.record === undefined) select(next)
    else open(next)
  }
  return { selected, open, move, row: openAt === undefined ? undefined : rows[openAt] }
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
