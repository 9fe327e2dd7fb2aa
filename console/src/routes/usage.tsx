import { Button, SegmentedControl } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import '../styles/usage.css'
import { problemFrom } from '../api/exchange.ts'
import { type Row, readList } from '../api/read.ts'
import { Chart, type Series } from '../components/chart.tsx'
import { ProblemState } from '../components/states.tsx'
import { grouped, msText } from '../lib/format.ts'
import { pointsOf, type Share, sharesOf, type UsagePoint } from '../lib/usage.ts'
import type { UsageSearch } from '../lib/usage-search.ts'

const route = getRouteApi('/usage')

/** Rows that are read: 20 requests of 1,000. The page says if there are more. */
const pagesMax = 20

function usageQuery({ per, from, to, key, route }: UsageSearch) {
  const conditions = [
    ...(from === undefined ? [] : [`at>=${from}`]),
    ...(to === undefined ? [] : [`at<=${to}`]),
    ...(key === undefined ? [] : [`key_id="${key}"`]),
    ...(route === undefined ? [] : [`route="${route}"`]),
  ]
  const filter = conditions.length === 0 ? undefined : conditions.join('&')
  return queryOptions({
    queryKey: ['usage', per, filter],
    queryFn: async ({ signal }) => {
      const rows: Row[] = []
      let total = 0
      for (let page = 1; page <= pagesMax; page++) {
        const { body } = await readList('usage', { per, filter, page: String(page), limit: '1000' }, signal)
        rows.push(...body.data)
        total = body.meta.total
        if (body.pagination.nextPage === null) break
      }
      return { rows, total, cache: await cacheShare(filterOfLog(from, to, key), signal) }
    },
  })
}

/** The usage has no cache share; the request log has it, for the newest 14 days and without routes. */
async function cacheShare(filter: string, signal: AbortSignal): Promise<{ all: number; cached: number }> {
  const [all, cached] = await Promise.all(
    [filter, `${filter}&cached=true`].map((one) =>
      readList('request', { filter: one, fields: 'id', limit: '1' }, signal),
    ),
  )
  return { all: all?.body.meta.total ?? 0, cached: cached?.body.meta.total ?? 0 }
}

function filterOfLog(from?: string, to?: string, key?: string): string {
  return [
    'status<400',
    ...(from ? [`at>=${from}`] : []),
    ...(to ? [`at<=${to}`] : []),
    ...(key ? [`key_id="${key}"`] : []),
  ].join('&')
}

/** Requests, errors and latency over time, by key and route. */
export function UsagePage() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const query = useQuery(usageQuery(search))
  const go = (change: Partial<UsageSearch>) => void navigate({ to: '.', search: { ...search, ...change } })
  const zoom = (from: number, to: number) => go({ from: iso(from), to: iso(to) })
  const points = useMemo(() => pointsOf(query.data?.rows ?? []), [query.data])
  const isNarrowed = [search.from, search.to, search.key, search.route].some((value) => value !== undefined)
  return (
    <>
      <header className="page-head">
        <h1>Usage</h1>
        <span className="spacer" />
        {isNarrowed && (
          <Button
            size="xs"
            variant="default"
            onClick={() => go({ from: undefined, to: undefined, key: undefined, route: undefined })}
          >
            Show everything
          </Button>
        )}
        <SegmentedControl
          size="xs"
          aria-label="Resolution"
          data={[
            { value: 'day', label: 'By day' },
            { value: 'minute', label: 'By minute' },
          ]}
          value={search.per ?? 'day'}
          onChange={(per) => go({ per: per === 'day' ? undefined : per, from: undefined, to: undefined })}
        />
      </header>
      {query.error !== null ? (
        <ProblemState problem={problemFrom(query.error)} onRetry={() => void query.refetch()} />
      ) : (
        <div className="usage">
          <Totals points={points} cache={query.data?.cache} isLoading={query.isPending} />
          {points.length === 0 && !query.isPending && (
            <p className="dim">No requests in this range. Usage appears within a minute.</p>
          )}
          {points.length > 0 && <Charts points={points} onZoom={zoom} />}
          {(query.data?.total ?? 0) > pagesMax * 1_000 && (
            <p className="dim">
              The newest {grouped(pagesMax * 1_000)} of {grouped(query.data?.total ?? 0)} rows are shown.
              Select a shorter range.
            </p>
          )}
          <div className="shares">
            <ShareTable
              title="By key"
              shares={sharesOf(query.data?.rows ?? [], 'key_id')}
              onChoose={(key) => go({ key })}
            />
            <ShareTable
              title="By route"
              shares={sharesOf(query.data?.rows ?? [], 'route')}
              onChoose={(route) => go({ route })}
            />
          </div>
        </div>
      )}
    </>
  )
}

function Charts({
  points,
  onZoom,
}: {
  readonly points: readonly UsagePoint[]
  readonly onZoom: (from: number, to: number) => void
}) {
  const times = useMemo(() => points.map(({ at }) => at), [points])
  const counts = useMemo(
    (): Series[] => [
      { label: 'requests', values: points.map(({ requests }) => requests), color: '--accent', isBar: true },
      { label: 'errors', values: points.map(({ errors }) => errors), color: '--bad', isBar: true },
    ],
    [points],
  )
  const latency = useMemo(
    (): Series[] => [
      { label: 'p50', values: points.map(({ p50 }) => p50), color: '--code-value' },
      { label: 'p95', values: points.map(({ p95 }) => p95), color: '--accent' },
      { label: 'p99', values: points.map(({ p99 }) => p99), color: '--code-join' },
    ],
    [points],
  )
  return (
    <div className="charts">
      <Chart label="Requests and errors" times={times} series={counts} unit="" onZoom={onZoom} />
      <Chart
        label="Latency percentiles, weighted by requests"
        times={times}
        series={latency}
        unit=" ms"
        onZoom={onZoom}
      />
    </div>
  )
}

interface TotalsProps {
  readonly points: readonly UsagePoint[]
  readonly cache: { readonly all: number; readonly cached: number } | undefined
  readonly isLoading: boolean
}

function Totals({ points, cache, isLoading }: TotalsProps) {
  const requests = points.reduce((sum, point) => sum + point.requests, 0)
  const errors = points.reduce((sum, point) => sum + point.errors, 0)
  const p95 =
    requests === 0 ? 0 : points.reduce((sum, point) => sum + point.p95 * point.requests, 0) / requests
  const facts = [
    ['Requests', grouped(requests)],
    ['Errors', `${grouped(errors)} (${percent(errors, requests)})`],
    ['95th percentile', msText(p95)],
    ['Cached responses', cache === undefined ? '' : percent(cache.cached, cache.all)],
  ] as const
  return (
    <dl className="totals">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{isLoading ? <span className="skeleton" /> : value}</dd>
        </div>
      ))}
    </dl>
  )
}

interface ShareTableProps {
  readonly title: string
  readonly shares: readonly Share[]
  readonly onChoose: (name: string) => void
}

function ShareTable({ title, shares, onChoose }: ShareTableProps) {
  return (
    <table className="share-table">
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">{title.slice(3)}</th>
          <th scope="col">requests</th>
          <th scope="col">errors</th>
          <th scope="col">p95</th>
        </tr>
      </thead>
      <tbody>
        {shares.slice(0, 20).map(({ name, requests, errors, p95 }) => (
          <tr key={name}>
            <td>
              <button type="button" className="link" onClick={() => onChoose(name)}>
                {name}
              </button>
            </td>
            <td>{grouped(requests)}</td>
            <td>{grouped(errors)}</td>
            <td>{msText(p95)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function percent(part: number, all: number): string {
  return all === 0 ? '0 %' : `${Math.round((part / all) * 1_000) / 10} %`
}

function iso(seconds: number): string {
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`
}
