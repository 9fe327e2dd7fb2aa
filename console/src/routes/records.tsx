import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useCallback } from 'react'
import type { CollectionName } from '../api/catalog.ts'
import { problemFrom, RequestFailed } from '../api/exchange.ts'
import { isResource } from '../api/read.ts'
import { Button } from '../components/button.tsx'
import { FilterBar } from '../components/filter/filter-bar.tsx'
import { Grid } from '../components/records/grid.tsx'
import { createLabelOf, ListHead } from '../components/records/list-head.tsx'
import { Pager } from '../components/records/pager.tsx'
import type { RecordPanelProps } from '../components/records/record-panel.tsx'
import { withMantine } from '../components/shell/with-mantine.ts'
import { EmptyState, Outage, OwnFieldsProblem, ProblemState } from '../components/states.tsx'
import { narrowed } from '../filter/narrowed.ts'
import { resourceLists } from '../lib/keys/stored-self.ts'
import { usePageTitle } from '../lib/page-title.ts'
import { fieldsParameter, moved } from '../lib/records/columns.ts'
import { unknownOwnNames } from '../lib/records/outdated.ts'
import { defaultLimit, type RecordsSearch, unknownParameters } from '../lib/records/records-search.ts'
import { type RecordsView, useRecords } from '../lib/records/use-records.ts'
import { t } from '../texts/texts.ts'

const ListChanges = lazy(async () => ({
  default: (await import('../components/records/list-changes.tsx')).ListChanges,
}))
/** Loaded after the first view: it needs neither menus nor panels nor dialogs. */
const panels = () => import('../components/records/panels.ts')
const RecordPanel = lazy(withMantine(async () => (await panels()).RecordPanel))
const RequestPanel = lazy(withMantine(async () => (await panels()).RequestPanel))
const CreateRecord = lazy(withMantine(async () => (await panels()).CreateRecord))
const DeleteRecord = lazy(withMantine(async () => (await panels()).DeleteRecord))
const KeyDialogs = lazy(withMantine(async () => (await panels()).KeyDialogs))
const KeyActions = lazy(withMantine(async () => (await panels()).KeyActions))
const KeyAudit = lazy(withMantine(async () => (await panels()).KeyAudit))
const LoggedRequest = lazy(withMantine(async () => (await panels()).LoggedRequest))
const FieldActions = lazy(withMantine(async () => (await panels()).FieldActions))
const FieldDialogs = lazy(withMantine(async () => (await panels()).FieldDialogs))
const WebhookActions = lazy(withMantine(async () => (await panels()).WebhookActions))
const WebhookReceiver = lazy(withMantine(async () => (await panels()).WebhookReceiver))
const WebhookDialogs = lazy(withMantine(async () => (await panels()).WebhookDialogs))
const DeliveryOutcome = lazy(withMantine(async () => (await panels()).DeliveryOutcome))
const DeliveryAttempts = lazy(withMantine(async () => (await panels()).DeliveryAttempts))

interface RecordsPageProps {
  readonly name: CollectionName
  readonly search: RecordsSearch
}

const noFaults: readonly [] = []

/** A list in a grid, with a side panel. Its state is the URL. */
export function RecordsPage({ name, search }: RecordsPageProps) {
  const view = useRecords(name, search)
  const { collection, query, failure, isReady, go } = view
  const list = failure === null ? view.list : undefined
  usePageTitle(openedTitle(view), t.pages[name])
  const applyFilter = useCallback(
    (text: string) => go({ filter: text === '' ? undefined : text, page: undefined, record: undefined }),
    [go],
  )
  const applySearch = useCallback(
    (words: string | undefined) =>
      go({
        search: words,
        page: undefined,
        record: undefined,
        ...(words === undefined ? {} : { filter: undefined }),
      }),
    [go],
  )
  const changeLimit = useCallback(
    (limit: string) => go({ limit: limit === defaultLimit ? undefined : limit, page: undefined }),
    [go],
  )
  return (
    <>
      <ListHead
        name={name}
        collection={collection}
        search={search}
        list={list}
        fields={view.fields}
        names={view.names}
        go={go}
        toggleRequest={view.toggleRequest}
        access={view.access}
        refresh={view.refresh}
        isFetching={query.isFetching}
        isReady={isReady}
      />
      <FilterBar
        collection={collection}
        applied={search.filter ?? ''}
        isReady={isReady}
        faults={query.error instanceof RequestFailed ? (query.error.problem.errors ?? noFaults) : noFaults}
        onApply={applyFilter}
        search={search.search}
        onSearch={applySearch}
      />
      <div className="workspace">
        <section className="list" aria-label={t.list.listOf(t.nouns[name].many)}>
          <ListNotices view={view} />
          <Rows view={view} />
          <Pager
            list={list}
            isLoading={query.isPending}
            limit={view.limit}
            onPage={view.pageTo}
            onLimit={changeLimit}
          />
        </section>
        <Suspense>
          <SidePanel view={view} />
        </Suspense>
      </div>
      <Suspense>
        <Dialogs view={view} />
      </Suspense>
    </>
  )
}

/** The name of the open record, or its id. */
function openedTitle({ name, search: { record }, selection }: RecordsView): string | undefined {
  if (record === undefined) return undefined
  const row = selection.row?.['name']
  return typeof row === 'string' ? row : `${t.nouns[name].one} ${record}`
}

interface PartProps {
  readonly view: RecordsView
}

function ListNotices({ view }: PartProps) {
  const { name, search, own, query, outage, isReady, refresh } = view
  return (
    <>
      {outage !== undefined && <Outage problem={outage} since={query.dataUpdatedAt} onRetry={refresh} />}
      {own.error !== null && query.error === null && (
        <OwnFieldsProblem problem={problemFrom(own.error)} onRetry={own.reload} />
      )}
      {isReady && isResource(name) && query.error === null && (
        <Suspense>
          <ListChanges
            resource={name}
            filter={search.filter}
            loadedAt={query.dataUpdatedAt}
            onRefresh={refresh}
          />
        </Suspense>
      )}
    </>
  )
}

/** Where a person can go whose key may not read this list. */
function OtherLists({ access }: Pick<RecordsView, 'access'>) {
  return resourceLists
    .filter(([name]) => access?.[name] === true)
    .map(([name, path]) => (
      <Link key={name} to={path}>
        {t.pages[name]}
      </Link>
    ))
}

function Rows({ view }: PartProps) {
  const { name, search, collection, list, query, failure, access, fields, names, go, selection } = view
  const unknown = unknownParameters(search)
  const canCreate = createLabelOf(name, access) !== undefined
  if (failure !== null) {
    const problem = problemFrom(failure)
    const gone = unknownOwnNames(problem.errors ?? [], { fields: view.parameters.fields })
    const others = names.filter((one) => !gone.includes(one))
    return (
      <ProblemState problem={problem} onRetry={() => void query.refetch()}>
        {others.length > 0 && others.length < names.length && (
          <Button size="xs" onClick={() => go({ fields: fieldsParameter(collection, others) })}>
            {t.list.otherColumns}
          </Button>
        )}
        {problem.code === 'scope_missing' && <OtherLists access={access} />}
      </ProblemState>
    )
  }
  if (unknown.length > 0) return <ProblemState problem={unknownProblem(unknown)} />
  if (list?.data.length === 0) {
    return (
      <EmptyState
        collection={collection}
        search={search}
        total={list.meta.total}
        canCreate={canCreate}
        onChange={go}
      />
    )
  }
  return (
    <Grid
      name={name}
      label={t.pages[name]}
      fields={fields}
      rows={list?.data}
      isRefreshing={query.isPlaceholderData}
      listKey={view.listKey}
      sort={search.sort}
      selected={selection.selected}
      firstRow={((list?.pagination.currentPage ?? 1) - 1) * Number(view.limit) + 1}
      total={list?.meta.total ?? 0}
      hrefOf={view.hrefOf}
      onOpen={selection.open}
      onSort={view.sortBy}
      onMoveColumn={(column, before) =>
        go({ fields: fieldsParameter(collection, moved(names, column, before)) })
      }
    />
  )
}

function SidePanel({ view }: PartProps) {
  const { name, search, collection, list, query, go, selection } = view
  if (search.panel === 'request') {
    const failed = query.error instanceof RequestFailed ? query.error.exchange : undefined
    return (
      <RequestPanel
        collection={collection}
        parameters={view.parameters}
        exchange={failed ?? query.data?.exchange}
        total={query.error === null ? list?.meta.total : undefined}
        onClose={() => go({ panel: undefined })}
      />
    )
  }
  if (search.record === undefined) return null
  return (
    <RecordPanel
      collection={collection}
      id={search.record}
      row={selection.row}
      onClose={() => go({ record: undefined })}
      onStep={(by) => selection.move(by)}
      onFilter={(field, value) => go({ filter: narrowed(search.filter, field.name, value), page: undefined })}
      write={view.write}
      {...extras[name]}
    />
  )
}

/** What the side panel shows besides the fields. */
const extras: Partial<Readonly<Record<CollectionName, Pick<RecordPanelProps, 'before' | 'after'>>>> = {
  key: {
    before: (record) => <KeyActions row={record} />,
    after: (record) => <KeyAudit row={record} />,
  },
  request: { before: (record) => <LoggedRequest row={record} /> },
  field: { before: (record) => <FieldActions row={record} /> },
  webhook: {
    before: (record) => <WebhookActions row={record} />,
    after: () => <WebhookReceiver />,
  },
  delivery: {
    before: (record) => <DeliveryOutcome row={record} />,
    after: (record) => <DeliveryAttempts row={record} />,
  },
}

function Dialogs({ view: { name, collection, search, go } }: PartProps) {
  const close = () => go({ dialog: undefined }, true)
  if (name === 'key') return <KeyDialogs dialog={search.dialog} keyId={search.record} onClose={close} />
  const ends = {
    dialog: search.dialog,
    onClose: close,
    onCreated: (id: string) => go({ dialog: undefined, record: id, panel: undefined }, true),
    onDeleted: () => go({ dialog: undefined, record: undefined }, true),
  }
  if (name === 'webhook') return <WebhookDialogs webhookId={search.record} {...ends} />
  if (name === 'field') return <FieldDialogs fieldId={search.record} {...ends} />
  if (!isResource(name)) return null
  if (search.dialog === 'create') {
    return (
      <CreateRecord
        name={name}
        collection={collection}
        onClose={close}
        onCreated={(id) => go({ dialog: undefined, record: String(id), panel: undefined }, true)}
      />
    )
  }
  if (search.dialog !== 'delete' || search.record === undefined) return null
  return (
    <DeleteRecord
      key={search.record}
      name={name}
      id={search.record}
      onClose={close}
      onDeleted={() => go({ dialog: undefined, record: undefined }, true)}
    />
  )
}

function unknownProblem(names: readonly string[]) {
  return {
    status: 0,
    code: 'parameter_unknown',
    title: t.list.unknownParameter,
    detail: t.list.noParameter(names.map((name) => `"${name}"`).join(', ')),
  }
}
