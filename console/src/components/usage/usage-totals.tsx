import { grouped, msText } from '../../lib/format.ts'
import { percentText } from '../../lib/usage/percent.ts'
import type { UsageSum } from '../../lib/usage/usage.ts'
import { t } from '../../texts/texts.ts'

interface UsageTotalsProps {
  readonly sum: UsageSum | undefined
  readonly minutes: number
  /** Null: no reads in the log. Undefined while loading. */
  readonly cachedShare: number | null | undefined
  readonly cacheNote: string
}

/** The totals of the range that the charts show. */
export function UsageTotals({ sum, minutes, cachedShare, cacheNote }: UsageTotalsProps) {
  const latency = (ms: number | null | undefined) =>
    ms == null ? '–' : `${sum?.isExact === true ? '' : '≤ '}${msText(ms)}`
  const bound = sum?.isExact === true ? t.usage.exact : t.usage.bound
  const requests = sum?.requests ?? 0
  const errors = sum?.errors ?? 0
  const totals = [
    [t.pages.request, grouped(requests), rateText(requests, minutes)],
    [
      t.usage.errorsTitle,
      grouped(errors),
      requests === 0 ? t.usage.status400 : t.usage.ofRequests(percentText(errors / requests)),
    ],
    [t.usage.p50, latency(sum?.p50), bound],
    [t.usage.p95, latency(sum?.p95), bound],
    [t.usage.p99, latency(sum?.p99), bound],
    [t.usage.cachedTitle, cachedShare == null ? '–' : percentText(cachedShare), cacheNote],
  ] as const
  return (
    <dl className="totals">
      {totals.map(([label, value, note]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            {sum === undefined || (label === t.usage.cachedTitle && cachedShare === undefined) ? (
              <span className="skeleton" />
            ) : (
              value
            )}{' '}
            <small>{note}</small>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function rateText(requests: number, minutes: number): string {
  const perMinute = requests / minutes
  if (perMinute >= 1) return t.usage.perMinute(grouped(perMinute))
  return t.usage.perHour(grouped(perMinute * 60))
}
