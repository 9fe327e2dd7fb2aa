import { Link } from '@tanstack/react-router'
import { lazy, memo, Suspense, useCallback } from 'react'
import type { Access } from '../api/access.ts'
import { type CollectionName, collections } from '../api/catalog.ts'
import { problemFrom, RequestFailed } from '../api/exchange.ts'
import { isResource } from '../api/read.ts'
import { Button, IconButton } from '../components/button.tsx'
import { FilterBar } from '../components/filter/filter-bar.tsx'
import { Icon } from '../components/icon.tsx'
import { Grid } from '../components/records/grid.tsx'
import { Pager } from '../components/records/pager.tsx'
import type { RecordPanelProps } from '../components/records/record-panel.tsx'
import { withMantine } from '../components/shell/with-mantine.ts'
import { EmptyState, Outage, OwnFieldsProblem, ProblemState } from '../components/states.tsx'
import { narrowed } from '../filter/narrowed.ts'
import { grouped } from '../lib/format.ts'
import { resourceLists } from '../lib/keys/stored-self.ts'
import { fieldsParameter, moved } from '../lib/records/columns.ts'
import { unknownOwnNames } from '../lib/records/outdated.ts'
import { defaultLimit, type RecordsSearch, unknownParameters } from '../lib/records/records-search.ts'
import { type RecordsView, useRecords } from '../lib/records/use-records.ts'
import { presentations } from '../lib/records/views.ts'
import { stringifySearch } from '../lib/search.ts'

/** Loaded after the first view: it needs neither menus nor panels nor dialogs. */
const menus = () => import('../components/records/menus.ts')
const panels = () => import('../components/records/panels.ts')
const ColumnMenu = lazy(withMantine(async () => (await menus()).ColumnMenu))
const CopyMenu = lazy(withMantine(async () => (await menus()).CopyMenu))
const ExportMenu = lazy(withMantine(async () => (await menus()).ExportMenu))
const ViewsMenu = lazy(withMantine(async () => (await menus()).ViewsMenu))
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
      <Head
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
        <section className="list" aria-label={`List of ${collection.plural}`}>
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

interface PartProps {
  readonly view: RecordsView
}

function ListNotices({ view: { own, query, outage, refresh } }: PartProps) {
  return (
    <>
      {outage !== undefined && <Outage problem={outage} since={query.dataUpdatedAt} onRetry={refresh} />}
      {own.error !== null && query.error === null && (
        <OwnFieldsProblem problem={problemFrom(own.error)} onRetry={own.reload} />
      )}
    </>
  )
}

interface HeadProps
  extends Pick<
    RecordsView,
    | 'name'
    | 'collection'
    | 'search'
    | 'list'
    | 'fields'
    | 'names'
    | 'go'
    | 'toggleRequest'
    | 'refresh'
    | 'access'
  > {
  readonly isFetching: boolean
  readonly isReady: boolean
}

const Head = memo(function Head(props: HeadProps) {
  const { name, collection, search, list, fields, names, go, access } = props
  const { toggleRequest, refresh, isFetching, isReady } = props
  const createLabel = createLabelOf(name, access)
  const isRequestShown = search.panel === 'request'
  return (
    <header className="page-head">
      <h1>{presentations[name].title}</h1>
      <span className="total">{list !== undefined && grouped(list.meta.total)}</span>
      <span className="spacer" />
      {createLabel !== undefined && (
        <Button size="xs" icon={<Icon name="plus" size={14} />} onClick={() => go({ dialog: 'create' })}>
          <span className="label">{createLabel}</span>
        </Button>
      )}
      <IconButton
        variant="default"
        className="refresh"
        aria-label="Refresh"
        title="Refresh"
        aria-busy={isFetching}
        onClick={refresh}
      >
        <Icon name="rotate" size={14} />
      </IconButton>
      {isReady ? (
        <Suspense fallback={<MenuPlaces hasExport={isResource(name)} />}>
          <ColumnMenu
            collection={collection}
            names={names}
            onChange={(next) => go({ fields: fieldsParameter(collection, next) })}
          />
          <ViewsMenu
            page={name}
            search={stringifySearch({ ...search, record: undefined, dialog: undefined })}
          />
          <CopyMenu fields={fields} rows={list?.data} />
          {isResource(name) && (
            <ExportMenu
              collection={collection}
              parameters={search}
              fields={fields}
              rows={list?.data}
              total={list?.meta.total}
            />
          )}
        </Suspense>
      ) : (
        <MenuPlaces hasExport={isResource(name)} />
      )}
      {isResource(name) && (
        <Link
          className="button"
          data-size="xs"
          data-variant="default"
          data-with-icon=""
          to="/import"
          search={{ resource: name }}
        >
          <Icon name="upload" size={14} />
          <span className="label">Import</span>
        </Link>
      )}
      <Button
        size="xs"
        variant={isRequestShown ? 'light' : 'default'}
        icon={<Icon name="code" size={14} />}
        aria-pressed={isRequestShown}
        onClick={toggleRequest}
      >
        <span className="label">Request</span>
      </Button>
    </header>
  )
})

/** As wide as the menus, so that nothing moves when they are loaded. */
function MenuPlaces({ hasExport }: { readonly hasExport: boolean }) {
  return (['columns', 'star', 'copy', ...(hasExport ? ['download' as const] : [])] as const).map(
    (icon, index) => (
      <Button key={icon} size="xs" variant="default" icon={<Icon name={icon} size={14} />} disabled>
        <span className="label">{['Columns', 'Views', 'Copy', 'Export'][index]}</span>
      </Button>
    ),
  )
}

/** Undefined if the key may not create one. */
function createLabelOf(name: CollectionName, access: Access | undefined): string | undefined {
  const isManaged = name === 'key' || name === 'field' || name === 'webhook'
  const mayCreate = isManaged ? access?.manage : access?.create.includes(name)
  if (mayCreate !== true) return undefined
  return name === 'field' ? 'Declare field' : `Create ${collections[name].noun}`
}

/** Where a person can go whose key may not read this list. */
function OtherLists({ access }: Pick<RecordsView, 'access'>) {
  return resourceLists
    .filter(([name]) => access?.[name] === true)
    .map(([name, path]) => (
      <Link key={name} to={path}>
        {presentations[name].title}
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
            Show the other columns
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
      label={presentations[name].title}
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
        onCreated={(id) => ends.onCreated(String(id))}
      />
    )
  }
  if (search.dialog !== 'delete' || search.record === undefined) return null
  return (
    <DeleteRecord
      key={search.record}
      name={name}
      collection={collection}
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
    title: 'The address of this page has an unknown parameter.',
    detail: `This page has no parameter ${names.map((name) => `"${name}"`).join(', ')}. It has filter, fields, search, sort, page, limit and record.`,
  }
}
