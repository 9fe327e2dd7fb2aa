import { useMemo } from 'react'
import { grouped, msText } from '../../lib/format.ts'
import { percentText } from '../../lib/usage/percent.ts'
import type { UsagePoint } from '../../lib/usage/usage.ts'
import { intervalText, isoTime } from '../../lib/usage/usage-range.ts'
import { t } from '../../texts/texts.ts'
import { type Series, UsageChart } from './usage-chart.tsx'

interface UsageChartsProps {
  readonly points: readonly UsagePoint[]
  readonly intervalMs: number
  /** Of each point; null without reads. */
  readonly cachedShares: readonly (number | null)[]
  readonly cacheNote: string
  readonly onZoom: (fromMs: number, toMs: number) => void
  readonly onReset: () => void
}

/** Requests, errors, latency and cached responses over time. */
export function UsageCharts(props: UsageChartsProps) {
  const { points, intervalMs, cachedShares, cacheNote, onZoom, onReset } = props
  const { times, counts, latency, errorRate, cached } = useSeries(points, cachedShares)
  const shared = {
    times,
    intervalSeconds: intervalMs / 1_000,
    onZoom: (from: number, to: number) => onZoom(from * 1_000, to * 1_000),
    onReset,
  }
  const per = t.usage.per(intervalText(intervalMs))
  const range = t.usage.fromTo(
    isoTime(points[0]?.atMs ?? 0),
    isoTime((points.at(-1)?.atMs ?? 0) + intervalMs),
  )
  const isExact = points.every((point) => point.isExact)
  return (
    <div className="charts">
      <UsageChart
        {...shared}
        title={t.usage.requestsErrors}
        note={t.usage.inUtc(per)}
        summary={t.usage.summary(t.usage.requestsErrors, per, range, highest(counts, grouped))}
        series={counts}
        format={grouped}
        axisMax={(most) => Math.max(most * 1.1, 4)}
      />
      <UsageChart
        {...shared}
        title={t.usage.latency}
        note={isExact ? t.usage.within(per) : t.usage.bounds(per)}
        summary={t.usage.summary(t.usage.latency, per, range, highest(latency, msText))}
        series={latency}
        format={latencyText}
        axisMax={(most) => Math.max(most * 1.1, 1)}
      />
      <UsageChart
        {...shared}
        title={t.usage.errorRate}
        note={t.usage.errorNote(per)}
        summary={t.usage.summary(t.usage.errorShare, per, range, highest(errorRate, percentText))}
        series={errorRate}
        format={percentText}
        axisMax={(most) => Math.min(Math.max(most * 1.25, 0.05), 1.02)}
      />
      <UsageChart
        {...shared}
        title={t.usage.cacheShare}
        note={cacheNote}
        summary={t.usage.summary(t.usage.cachedShare, per, range, highest(cached, percentText))}
        series={cached}
        format={percentText}
        axisMax={() => 1.02}
      />
    </div>
  )
}

/** The same arrays until the data changes: a chart is drawn again for new ones. */
function useSeries(points: readonly UsagePoint[], cachedShares: readonly (number | null)[]) {
  const times = useMemo(() => points.map(({ atMs }) => atMs / 1_000), [points])
  const counts = useMemo(
    (): Series[] => [
      {
        label: t.usage.requests,
        values: points.map(({ requests }) => requests),
        color: '--accent',
        isBar: true,
      },
      { label: t.usage.errors, values: points.map(({ errors }) => errors), color: '--bad', isBar: true },
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
  const errorRate = useMemo((): Series[] => {
    const values = points.map(({ requests, errors }) => (requests === 0 ? null : errors / requests))
    return [{ label: t.usage.errors, values, color: '--bad' }]
  }, [points])
  const cached = useMemo(
    (): Series[] => [{ label: t.usage.cached, values: cachedShares, color: '--code-value' }],
    [cachedShares],
  )
  return { times, counts, latency, errorRate, cached }
}

function latencyText(ms: number): string {
  return ms === 0 ? '0 ms' : msText(ms)
}

function highest(series: readonly Series[], format: (value: number) => string): string {
  return series
    .map(({ label, values }) => {
      const known = values.filter((value) => value !== null)
      return known.length === 0 ? t.usage.noValues(label) : t.usage.upTo(label, format(Math.max(...known)))
    })
    .join(' ')
}
