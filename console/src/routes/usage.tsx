import '../styles/usage.css'
import { Button, SegmentedControl } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useMemo } from 'react'
import { problemFrom } from '../api/exchange.ts'
import { listQuery } from '../api/read.ts'
import { loggedReadsQuery, usageQuery } from '../api/usage.ts'
import { Icon } from '../components/icon.tsx'
import { ManageGate } from '../components/shell/manage-gate.tsx'
import { ProblemState } from '../components/states.tsx'
import { UsageRangeBar } from '../components/usage/usage-range-bar.tsx'
import { UsageTable } from '../components/usage/usage-table.tsx'
import { UsageTotals } from '../components/usage/usage-totals.tsx'
import { grouped } from '../lib/format.ts'
import { usePageTitle } from '../lib/page-title.ts'
import { logFilterOf } from '../lib/usage/log-filter.ts'
import { cachedShareOf, cachedSharesOf, pointsOf, sharesOf, sumOf } from '../lib/usage/usage.ts'
import {
  fullRange,
  intervalOf,
  isoTime,
  isSame,
  perOf,
  type Range,
  rangeOf,
  rangesOf,
  snapped,
  zoomOf,
} from '../lib/usage/usage-range.ts'
import type { UsageSearch } from '../lib/usage/usage-search.ts'
import { t } from '../texts/texts.ts'

const route = getRouteApi('/usage')
const UsageCharts = lazy(async () => ({
  default: (await import('../components/usage/usage-charts.tsx')).UsageCharts,
}))

/** Requests, errors, latency and cached responses over time, by key and route. */
export function UsagePage() {
  return (
    <ManageGate name="usage">
      <Usage />
    </ManageGate>
  )
}

interface PartProps {
  readonly search: UsageSearch
  readonly view: UsageView
  readonly go: (change: Partial<UsageSearch>) => void
}

function Usage() {
  usePageTitle(t.pages.usage)
  const search = route.useSearch()
  const navigate = useNavigate()
  const go = (change: Partial<UsageSearch>) => void navigate({ to: '.', search: { ...search, ...change } })
  const view = useUsage(search)
  const { query, shown } = view
  const log = { filter: logFilterOf({ ...shown, key: search.key, route: search.route }) }
  return (
    <>
      <UsageHead
        search={search}
        onChange={go}
        isBusy={query.isFetching}
        onRefresh={() => void query.refetch()}
      >
        <Button
          size="xs"
          variant="default"
          aria-label={t.usage.logOfRange}
          leftSection={<Icon name="pulse" size={14} />}
          onClick={() => void navigate({ to: '/requests', search: log })}
        >
          <span className="label">{t.pages.request}</span>
        </Button>
      </UsageHead>
      {query.error !== null ? (
        <ProblemState problem={problemFrom(query.error)} onRetry={() => void query.refetch()} />
      ) : (
        <div className="usage" aria-busy={query.isPending}>
          <UsageOverview search={search} view={view} go={go} />
          <Missing
            rows={query.data?.rows.length ?? 0}
            total={query.data?.total ?? 0}
            unlogged={view.sum.unlogged}
          />
          <UsageTables search={search} view={view} go={go} />
        </div>
      )}
    </>
  )
}

/** The range, the totals and the charts. */
function UsageOverview({ search, view, go }: PartProps) {
  const { per, full, shown, isZoomed, query } = view
  const reset = () => (isZoomed ? go({ from: undefined, to: undefined }) : undefined)
  const zoom = (range: Range) => {
    const next = snapped(range, per)
    if (isSame(next, full)) reset()
    else go({ from: isoTime(next.fromMs), to: isoTime(next.toMs) })
  }
  const isNarrowed = isZoomed || search.key !== undefined || search.route !== undefined
  return (
    <>
      <UsageRangeBar per={per} full={full} shown={shown} isZoomed={isZoomed} onZoom={zoom} onReset={reset}>
        <Narrowed
          label={t.usage.key}
          value={search.key}
          name={view.keyName}
          onRemove={() => go({ key: undefined })}
        />
        <Narrowed label={t.usage.route} value={search.route} onRemove={() => go({ route: undefined })} />
        {isNarrowed && (
          <Button
            size="compact-xs"
            variant="subtle"
            onClick={() => go({ from: undefined, to: undefined, key: undefined, route: undefined })}
          >
            {t.usage.everything}
          </Button>
        )}
      </UsageRangeBar>
      <UsageTotals
        sum={query.data === undefined ? undefined : view.sum}
        minutes={(Math.min(shown.toMs, Date.now()) - shown.fromMs) / 60_000}
        cachedShare={view.cachedShare}
        cacheNote={view.cacheNote}
      />
      {query.data?.rows.length === 0 && <NoUsage />}
      {(query.data?.rows.length ?? 0) > 0 && (
        <Suspense fallback={<div className="charts-loading" />}>
          <UsageCharts
            points={view.points}
            intervalMs={view.intervalMs}
            cachedShares={view.cachedShares}
            cacheNote={t.usage.notCounted(view.cacheNote)}
            onZoom={(fromMs, toMs) => zoom({ fromMs, toMs })}
            onReset={reset}
          />
        </Suspense>
      )}
    </>
  )
}

/** Each table is limited by the selection in the other one, and selects in its own. */
function UsageTables({ search, view, go }: PartProps) {
  return (
    <div className="usage-tables">
      <UsageTable
        title={t.usage.byKey}
        column={t.usage.key}
        shares={sharesOf(view.all.filter(isOf(undefined, search.route)), 'key')}
        labelOf={view.keyNameOf}
        selected={search.key}
        onSelect={(key) => go({ key })}
      />
      <UsageTable
        title={t.usage.byRoute}
        column={t.usage.route}
        shares={sharesOf(view.all.filter(isOf(search.key, undefined)), 'route')}
        selected={search.route}
        onSelect={(next) => go({ route: next })}
      />
    </div>
  )
}

type UsageView = ReturnType<typeof useUsage>

/** What the URL selects of the usage and of the request log. */
function useUsage(search: UsageSearch) {
  const per = perOf(search.per)
  const range = rangeOf(per, search.range)
  const query = useQuery({ ...usageQuery(per, range.ms), placeholderData: keepPreviousData })
  const full = query.data?.range ?? fullRange(per, range.ms, Date.now())
  const zoomed = zoomOf(search.from, search.to, full)
  const shown = zoomed ?? full
  const reads = useQuery({ ...loggedReadsQuery(shown), enabled: query.data !== undefined })
  const keys = useQuery(listQuery('key', { fields: 'key_id,name', limit: '1000' }))
  const names = useMemo(
    () => new Map((keys.data?.body.data ?? []).map((row) => [String(row['key_id']), String(row['name'])])),
    [keys.data],
  )
  const { fromMs, toMs } = shown
  const { key, route: only } = search
  const intervalMs = intervalOf(per, shown)
  const all = useMemo(
    () => (query.data?.rows ?? []).filter(({ atMs }) => atMs >= fromMs && atMs < toMs),
    [query.data, fromMs, toMs],
  )
  const selected = useMemo(() => all.filter(isOf(key, only)), [all, key, only])
  const points = useMemo(
    () => pointsOf(selected, { fromMs, toMs }, intervalMs),
    [selected, fromMs, toMs, intervalMs],
  )
  const selectedReads = useMemo(() => reads.data?.reads.filter(isOf(key, only)), [reads.data, key, only])
  const cachedShares = useMemo(
    () => cachedSharesOf(selectedReads ?? [], points, intervalMs),
    [selectedReads, points, intervalMs],
  )
  const sum = useMemo(() => sumOf(selected), [selected])
  const count = selectedReads?.length ?? 0
  const isPart = (reads.data?.total ?? 0) > (reads.data?.reads.length ?? 0)
  return {
    per,
    full,
    shown,
    isZoomed: zoomed !== undefined,
    query,
    all,
    points,
    intervalMs,
    sum,
    cachedShares,
    cachedShare: selectedReads === undefined ? undefined : cachedShareOf(selectedReads),
    cacheNote: t.usage.ofReads(grouped(count), isPart),
    keyName: key === undefined ? undefined : names.get(key),
    keyNameOf: (id: string) => names.get(id),
  }
}

function isOf(key: string | undefined, only: string | undefined) {
  return (row: { readonly key: string; readonly route: string }) =>
    (key === undefined || row.key === key) && (only === undefined || row.route === only)
}

interface UsageHeadProps {
  readonly search: UsageSearch
  readonly isBusy: boolean
  readonly onChange: (change: Partial<UsageSearch>) => void
  readonly onRefresh: () => void
  readonly children: React.ReactNode
}

function UsageHead({ search, isBusy, onChange, onRefresh, children }: UsageHeadProps) {
  const per = perOf(search.per)
  const noZoom = { from: undefined, to: undefined }
  return (
    <header className="page-head usage-head">
      <h1>{t.pages.usage}</h1>
      <span className="spacer" />
      <SegmentedControl
        size="xs"
        aria-label={t.usage.resolution}
        data={[
          { value: 'minute', label: t.usage.byMinute },
          { value: 'day', label: t.usage.byDay },
        ]}
        value={per}
        onChange={(next) => onChange({ per: next === 'day' ? next : undefined, range: undefined, ...noZoom })}
      />
      <SegmentedControl
        size="xs"
        aria-label={t.usage.range}
        data={rangesOf[per].map(({ value }) => ({ value, label: t.usage.ranges[value] }))}
        value={rangeOf(per, search.range).value}
        onChange={(range) => onChange({ range, ...noZoom })}
      />
      {children}
      <Button
        size="xs"
        variant="default"
        aria-label={t.common.refresh}
        leftSection={<Icon name="rotate" size={14} />}
        loading={isBusy}
        onClick={onRefresh}
      >
        <span className="label">{t.common.refresh}</span>
      </Button>
    </header>
  )
}

interface NarrowedProps {
  readonly label: string
  readonly value: string | undefined
  readonly name?: string | undefined
  readonly onRemove: () => void
}

function Narrowed({ label, value, name, onRemove }: NarrowedProps) {
  if (value === undefined) return null
  return (
    <span className="badge" data-tone="accent">
      {label} {name ?? value}{' '}
      <button type="button" className="badge-remove" aria-label={t.usage.showEvery(label)} onClick={onRemove}>
        <Icon name="close" size={10} />
      </button>
    </span>
  )
}

function NoUsage() {
  return (
    <div className="usage-empty" role="status">
      <Icon name="chart" size={22} />
      <h2>{t.usage.none}</h2>
      <p>{t.usage.noneMeaning}</p>
    </div>
  )
}

/** What the totals do not include. */
function Missing(props: { readonly rows: number; readonly total: number; readonly unlogged: number }) {
  const { rows, total, unlogged } = props
  return (
    <>
      {total > rows && <p className="dim">{t.usage.missing(grouped(rows), grouped(total))}</p>}
      {unlogged > 0 && <p className="dim">{t.usage.unlogged(grouped(unlogged))}</p>}
    </>
  )
}
