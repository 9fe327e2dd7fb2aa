import { lazy, memo, Suspense, useCallback } from 'react'
import type { CollectionName } from '../api/catalog.ts'
import { problemFrom, RequestFailed } from '../api/exchange.ts'
import { Button } from '../components/button.tsx'
import { FilterBar } from '../components/filter/filter-bar.tsx'
import { Icon } from '../components/icon.tsx'
import { Grid } from '../components/records/grid.tsx'
import { Pager } from '../components/records/pager.tsx'
import type { RecordPanelProps } from '../components/records/record-panel.tsx'
import { withMantine } from '../components/shell/with-mantine.ts'
import { EmptyState, OwnFieldsProblem, ProblemState } from '../components/states.tsx'
import { narrowed } from '../filter/narrowed.ts'
import { grouped } from '../lib/format.ts'
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
const ViewsMenu = lazy(withMantine(async () => (await menus()).ViewsMenu))
const RecordPanel = lazy(withMantine(async () => (await panels()).RecordPanel))
const RequestPanel = lazy(withMantine(async () => (await panels()).RequestPanel))
const CreatePartner = lazy(withMantine(async () => (await panels()).CreatePartner))
const KeyDialogs = lazy(withMantine(async () => (await panels()).KeyDialogs))
const KeyActions = lazy(withMantine(async () => (await panels()).KeyActions))
const KeyAudit = lazy(withMantine(async () => (await panels()).KeyAudit))
const LoggedRequest = lazy(withMantine(async () => (await panels()).LoggedRequest))

interface RecordsPageProps {
  readonly name: CollectionName
  readonly search: RecordsSearch
}

const noFaults: readonly [] = []

/** A list in a grid, with a side panel. Its state is the URL. */
export function RecordsPage({ name, search }: RecordsPageProps) {
  const view = useRecords(name, search)
  const { collection, own, query, isReady, go } = view
  const list = query.error === null ? view.list : undefined
  const applyFilter = useCallback(
    (text: string) => go({ filter: text === '' ? undefined : text, page: undefined, record: undefined }),
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
        refetch={query.refetch}
        isReady={isReady}
      />
      <FilterBar
        collection={collection}
        applied={search.filter ?? ''}
        isReady={isReady}
        faults={query.error instanceof RequestFailed ? (query.error.problem.errors ?? noFaults) : noFaults}
        onApply={applyFilter}
      />
      <div className="workspace">
        <section className="list" aria-label={`List of ${collection.plural}`}>
          {own.error !== null && query.error === null && (
            <OwnFieldsProblem problem={problemFrom(own.error)} onRetry={own.reload} />
          )}
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

interface HeadProps
  extends Pick<
    RecordsView,
    'name' | 'collection' | 'search' | 'list' | 'fields' | 'names' | 'go' | 'toggleRequest'
  > {
  readonly refetch: RecordsView['query']['refetch']
  readonly isReady: boolean
}

const Head = memo(function Head(props: HeadProps) {
  const { name, collection, search, list, fields, names, go, toggleRequest, refetch, isReady } = props
  const createLabel = createLabels[name]
  const isRequestShown = search.panel === 'request'
  return (
    <header className="page-head">
      <h1>{presentations[name].title}</h1>
      <span className="total">{list !== undefined && grouped(list.meta.total)}</span>
      <span className="spacer" />
      {createLabel !== undefined && (
        <Button size="xs" icon={<Icon name="plus" size={14} />} onClick={() => go({ dialog: 'create' })}>
          {createLabel}
        </Button>
      )}
      {isLog(name) && (
        <Button
          size="xs"
          variant="default"
          aria-label="Refresh"
          icon={<Icon name="rotate" size={14} />}
          onClick={() => void refetch()}
        >
          <span className="label">Refresh</span>
        </Button>
      )}
      {isReady ? (
        <Suspense fallback={<MenuPlaces />}>
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
        </Suspense>
      ) : (
        <MenuPlaces />
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

/** Lists that grow while a person reads them. */
function isLog(name: CollectionName): boolean {
  return name === 'request' || name === 'audit'
}

/** As wide as the menus, so that nothing moves when they are loaded. */
function MenuPlaces() {
  return (['columns', 'star', 'copy'] as const).map((icon, index) => (
    <Button key={icon} size="xs" variant="default" icon={<Icon name={icon} size={14} />} disabled>
      <span className="label">{['Columns', 'Views', 'Copy'][index]}</span>
    </Button>
  ))
}

const createLabels: Partial<Readonly<Record<CollectionName, string>>> = {
  partner: 'Create partner',
  key: 'Create key',
}

function Rows({ view }: PartProps) {
  const { name, search, collection, list, query, fields, names, go, selection } = view
  const unknown = unknownParameters(search)
  if (query.error !== null) {
    const problem = problemFrom(query.error)
    const gone = unknownOwnNames(problem.errors ?? [], { fields: view.parameters.fields })
    const others = names.filter((one) => !gone.includes(one))
    return (
      <ProblemState problem={problem} onRetry={() => void query.refetch()}>
        {others.length > 0 && others.length < names.length && (
          <Button size="xs" onClick={() => go({ fields: fieldsParameter(collection, others) })}>
            Show the other columns
          </Button>
        )}
      </ProblemState>
    )
  }
  if (unknown.length > 0) return <ProblemState problem={unknownProblem(unknown)} />
  if (list?.data.length === 0) {
    return <EmptyState collection={collection} search={search} total={list.meta.total} onChange={go} />
  }
  return (
    <Grid
      label={presentations[name].title}
      fields={fields}
      rows={list?.data}
      isRefreshing={query.isPlaceholderData}
      selected={selection.selected}
      firstRow={((list?.pagination.currentPage ?? 1) - 1) * Number(view.limit) + 1}
      total={list?.meta.total ?? 0}
      onSelect={selection.select}
      onOpen={selection.open}
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
}

function Dialogs({ view: { name, search, go } }: PartProps) {
  const close = () => go({ dialog: undefined }, true)
  if (name === 'key') return <KeyDialogs dialog={search.dialog} keyId={search.record} onClose={close} />
  if (search.dialog !== 'create' || name !== 'partner') return null
  return (
    <CreatePartner
      onClose={close}
      onCreated={(id) => go({ dialog: undefined, record: String(id), panel: undefined }, true)}
    />
  )
}

function unknownProblem(names: readonly string[]) {
  return {
    status: 0,
    code: 'parameter_unknown',
    title: 'The address of this page has an unknown parameter.',
    detail: `This page has no parameter ${names.map((name) => `"${name}"`).join(', ')}. It has filter, fields, page, limit and record.`,
  }
}
