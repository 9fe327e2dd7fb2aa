import { grouped, msText } from '../../lib/format.ts'
import { percentText } from '../../lib/usage/percent.ts'
import type { UsageSum } from '../../lib/usage/usage.ts'

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
  const bound = sum?.isExact === true ? 'within 5 %' : 'upper bound'
  const requests = sum?.requests ?? 0
  const errors = sum?.errors ?? 0
  const totals = [
    ['Requests', grouped(requests), rateText(requests, minutes)],
    [
      'Errors',
      grouped(errors),
      requests === 0 ? 'status 400 or more' : `${percentText(errors / requests)} of requests`,
    ],
    ['p50 latency', latency(sum?.p50), bound],
    ['p95 latency', latency(sum?.p95), bound],
    ['p99 latency', latency(sum?.p99), bound],
    ['Cached responses', cachedShare == null ? '–' : percentText(cachedShare), cacheNote],
  ] as const
  return (
    <dl className="totals">
      {totals.map(([label, value, note]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            {sum === undefined || (label === 'Cached responses' && cachedShare === undefined) ? (
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
  if (perMinute >= 1) return `${grouped(perMinute)} per minute`
  return `${grouped(perMinute * 60)} per hour`
}
