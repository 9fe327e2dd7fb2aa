import { Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { type Collection, type CollectionName, collections } from '../api/catalog.ts'
import { problemFrom, RequestFailed } from '../api/exchange.ts'
import { type List, listQuery, type Row } from '../api/read.ts'
import { ColumnMenu } from '../components/column-menu.tsx'
import { CopyMenu } from '../components/copy-menu.tsx'
import { CreatePartner } from '../components/create-partner.tsx'
import { FilterBar } from '../components/filter-bar.tsx'
import { Grid } from '../components/grid.tsx'
import { Icon } from '../components/icon.tsx'
import { KeyActions, KeyAudit } from '../components/key-actions.tsx'
import { CreateKeyDialog } from '../components/key-dialogs.tsx'
import { LoggedRequest } from '../components/logged-request.tsx'
import { Pager } from '../components/pager.tsx'
import { RecordPanel, type RecordPanelProps } from '../components/record-panel.tsx'
import { RequestPanel } from '../components/request-panel.tsx'
import { EmptyState, ProblemState } from '../components/states.tsx'
import { ViewsMenu } from '../components/views-menu.tsx'
import { narrowed } from '../filter/narrowed.ts'
import { fieldsOf, fieldsParameter, moved } from '../lib/columns.ts'
import { grouped } from '../lib/format.ts'
import { useHotkeys } from '../lib/hotkeys.ts'
import { defaultLimit, type RecordsSearch, unknownParameters } from '../lib/records-search.ts'
import { stringifySearch } from '../lib/search.ts'
import { presentations } from '../lib/views.ts'

const noFaults: readonly [] = []

interface RecordsPageProps {
  readonly name: CollectionName
  readonly search: RecordsSearch
}

/** A list in a grid, with a side panel. Its state is the URL. */
export function RecordsPage({ name, search }: RecordsPageProps) {
  const collection = collections[name]
  const navigate = useNavigate()
  const limit = search.limit ?? defaultLimit
  const { filter, page } = search
  const shownFields = search.fields ?? presentations[name].fields
  const parameters = { filter, fields: shownFields, page, limit }
  const query = useQuery({
    ...listQuery(name, parameters),
    placeholderData: keepPreviousData,
  })
  const list = query.data?.body
  const fields = useMemo(() => fieldsOf(collection, shownFields), [collection, shownFields])
  const names = fields.map((field) => field.name)
  const go = (change: Partial<RecordsSearch>, replace = false) =>
    void navigate({ to: '.', search: { ...search, ...change }, replace })
  const createLabel = createLabels[name]
  const view = useSelection(collection, list, search, go)
  const pageTo = (to: number) => go({ page: to === 1 ? undefined : String(to), record: undefined })
  const toggleRequest = () =>
    go({ panel: search.panel === 'request' ? undefined : 'request', record: undefined })
  useListHotkeys(view, list, search, go, pageTo)
  useHotkeys({ r: toggleRequest })
  return (
    <>
      <header className="page-head">
        <h1>{presentations[name].title}</h1>
        <span className="total">
          {list !== undefined && query.error === null && grouped(list.meta.total)}
        </span>
        <span className="spacer" />
        {createLabel !== undefined && (
          <Button
            size="xs"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => go({ dialog: 'create' })}
          >
            {createLabel}
          </Button>
        )}
        <ColumnMenu
          collection={collection}
          names={names}
          onChange={(next) => go({ fields: fieldsParameter(collection, next) })}
        />
        <ViewsMenu
          page={name}
          search={stringifySearch({ ...search, record: undefined, dialog: undefined })}
        />
        <CopyMenu names={names} rows={list?.data} />
        <Button
          size="xs"
          variant={search.panel === 'request' ? 'light' : 'default'}
          leftSection={<Icon name="code" size={14} />}
          aria-pressed={search.panel === 'request'}
          onClick={toggleRequest}
        >
          <span className="label">Request</span>
        </Button>
      </header>
      <FilterBar
        collection={collection}
        applied={filter ?? ''}
        faults={query.error instanceof RequestFailed ? (query.error.problem.errors ?? noFaults) : noFaults}
        onApply={(text) => go({ filter: text === '' ? undefined : text, page: undefined, record: undefined })}
      />
      <div className="workspace">
        <section className="list" aria-label={`List of ${collection.plural}`}>
          {query.error !== null ? (
            <ProblemState problem={problemFrom(query.error)} onRetry={() => void query.refetch()} />
          ) : unknownParameters(search).length > 0 ? (
            <ProblemState problem={unknownProblem(unknownParameters(search))} />
          ) : list?.data.length === 0 ? (
            <EmptyState collection={collection} search={search} total={list.meta.total} onChange={go} />
          ) : (
            <Grid
              label={presentations[name].title}
              fields={fields}
              rows={list?.data}
              isRefreshing={query.isPlaceholderData}
              selected={view.selected}
              firstRow={((list?.pagination.currentPage ?? 1) - 1) * Number(limit) + 1}
              total={list?.meta.total ?? 0}
              onSelect={view.select}
              onOpen={view.open}
              onMoveColumn={(column, before) =>
                go({ fields: fieldsParameter(collection, moved(names, column, before)) })
              }
            />
          )}
          <Pager
            list={query.error === null ? list : undefined}
            isLoading={query.isPending}
            limit={limit}
            onPage={pageTo}
            onLimit={(next) => go({ limit: next === defaultLimit ? undefined : next, page: undefined })}
          />
        </section>
        {search.panel === 'request' ? (
          <RequestPanel
            collection={collection}
            parameters={parameters}
            exchange={
              query.data?.exchange ??
              (query.error instanceof RequestFailed ? query.error.exchange : undefined)
            }
            total={query.error === null ? list?.meta.total : undefined}
            onClose={() => go({ panel: undefined })}
          />
        ) : search.record !== undefined ? (
          <RecordPanel
            collection={collection}
            id={search.record}
            row={view.row}
            onClose={() => go({ record: undefined })}
            onStep={(by) => view.move(by)}
            {...extras[name]}
            onFilter={(field, value) => go({ filter: narrowed(filter, field.name, value), page: undefined })}
          />
        ) : null}
      </div>
      {search.dialog === 'create' && name === 'partner' && (
        <CreatePartner
          onClose={() => go({ dialog: undefined }, true)}
          onCreated={(id) => go({ dialog: undefined, record: String(id), panel: undefined }, true)}
        />
      )}
      {search.dialog === 'create' && name === 'key' && (
        <CreateKeyDialog onClose={() => go({ dialog: undefined }, true)} />
      )}
    </>
  )
}

const createLabels: Partial<Readonly<Record<CollectionName, string>>> = {
  partner: 'Create partner',
  key: 'Create key',
}

/** What the side panel shows besides the fields. */
const extras: Partial<Readonly<Record<CollectionName, Pick<RecordPanelProps, 'before' | 'after'>>>> = {
  key: {
    before: (record) => <KeyActions row={record} />,
    after: (record) => <KeyAudit row={record} />,
  },
  request: { before: (record) => <LoggedRequest row={record} /> },
}

/** Which row is selected, and which record is open. */
function useSelection(
  collection: Collection,
  list: List | undefined,
  search: RecordsSearch,
  go: (change: Partial<RecordsSearch>, replace?: boolean) => void,
) {
  const [selected, select] = useState(0)
  const rows = list?.data ?? []
  const { idField } = presentations[collection.name]
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
    if (id !== undefined && id !== search.record)
      go({ record: id, panel: undefined }, search.record !== undefined)
  }
  const move = (by: number) => {
    const next = Math.min(Math.max(selected + by, 0), Math.max(rows.length - 1, 0))
    select(next)
    if (search.record !== undefined) open(next)
  }
  return { selected, select, open, move, row: rows[openAt] }
}

function useListHotkeys(
  view: ReturnType<typeof useSelection>,
  list: List | undefined,
  search: RecordsSearch,
  go: (change: Partial<RecordsSearch>) => void,
  pageTo: (page: number) => void,
) {
  const nextPage = () => list?.pagination.nextPage != null && pageTo(list.pagination.nextPage)
  const previousPage = () => list?.pagination.previousPage != null && pageTo(list.pagination.previousPage)
  const step = (by: number) => (event: KeyboardEvent) => {
    event.preventDefault()
    view.move(by)
  }
  useHotkeys({
    j: step(1),
    k: step(-1),
    ArrowDown: step(1),
    ArrowUp: step(-1),
    Enter: () => view.open(view.selected),
    o: () => view.open(view.selected),
    Escape: () =>
      (search.record ?? search.panel) !== undefined && go({ record: undefined, panel: undefined }),
    n: nextPage,
    ']': nextPage,
    p: previousPage,
    '[': previousPage,
  })
}

function unknownProblem(names: readonly string[]) {
  return {
    status: 0,
    code: 'parameter_unknown',
    title: 'The address of this page has an unknown parameter.',
    detail: `This page has no parameter ${names.map((name) => `"${name}"`).join(', ')}. It has filter, fields, page, limit and record.`,
  }
}
